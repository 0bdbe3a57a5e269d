void f(int *X, int *Y, int s) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  int y[T] = x * x + s;
  *(Y + r) = y - x / 3;
}
