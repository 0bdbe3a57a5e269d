void f(int *Y, int a, int b, int c) {
  *Y = a & b == c;
  *(Y + 1) = a | b ^ c & a;
  *(Y + 2) = 1 << c + 1;
  *(Y + 3) = a - 1 << c & 15;
  *(Y + 4) = a < b == c > a;
  *(Y + 5) = a == b & c;
  *(Y + 6) = (a & b) == c;
  *(Y + 7) = a ^ b < c;
}
