void f(unsigned *X, unsigned *Y, unsigned s) {
  int r[T] = 0 ... T;
  unsigned x[T] = *(X + r);
  unsigned y[T] = x * x + s;
  *(Y + r) = y - x / 3;
}
