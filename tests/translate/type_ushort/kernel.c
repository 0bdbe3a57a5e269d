void f(unsigned short *X, unsigned short *Y, unsigned short s) {
  int r[T] = 0 ... T;
  unsigned short x[T] = *(X + r);
  unsigned short y[T] = x * x + s;
  *(Y + r) = y - x / 3;
}
