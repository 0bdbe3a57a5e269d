void f(unsigned long *X, unsigned long *Y, unsigned long s) {
  int r[T] = 0 ... T;
  unsigned long x[T] = *(X + r);
  *(Y + r) = x / 10 + x % 7 + (x >> 60) + s;
}
