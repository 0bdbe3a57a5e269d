void f(int *Y, char a, unsigned char b, short c, bool d) {
  *Y = a * a;
  *(Y + 1) = b + b;
  *(Y + 2) = c * c;
  *(Y + 3) = d + d;
  *(Y + 4) = b << 4;
  *(Y + 5) = ~b;
  *(Y + 6) = -d;
}
