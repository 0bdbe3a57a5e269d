void f(double *Y, bool a, char b, short c, int d, long e, unsigned char g, unsigned short h, unsigned i, unsigned long j, half k, float l, double m) {
  *Y = a;
  *(Y + 1) = b;
  *(Y + 2) = c;
  *(Y + 3) = d;
  *(Y + 4) = e;
  *(Y + 5) = g;
  *(Y + 6) = h;
  *(Y + 7) = i;
  *(Y + 8) = j;
  *(Y + 9) = k;
  *(Y + 10) = l;
  *(Y + 11) = m;
}
