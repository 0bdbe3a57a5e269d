void f(short *X, short *Y, short s) {
  int r[T] = 0 ... T;
  short x[T] = *(X + r);
  short y[T] = x * x + s;
  *(Y + r) = y - x / 3;
}
