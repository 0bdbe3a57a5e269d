void f(int *X, int *Y, unsigned char u, unsigned n, unsigned long m) {
  int r[T] = 0 ... T;
  unsigned v[T] = r;
  *Y = *(X + 300 - u);
  *(Y + 1) = *(X + 300 - n);
  *(Y + 2) = *(X + 300 - m);
  *(Y + 3) = *(X + 300 + (n - n) - -u);
  int *p = X + 300;
  p -= n;
  *(Y + 4) = *p;
  int s = 0;
  for (unsigned i = 0; i < 4; i++) s += *(p - i);
  *(Y + 5) = s;
  *(Y + 8 + r) = *(X + 300 - v);
  *(Y + 8 + T + r) = *(X + 300 - (unsigned char[T])r);
}
