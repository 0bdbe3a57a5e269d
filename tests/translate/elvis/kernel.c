void f(int *X, int *Y, int n) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  *(Y + r) = x ?: n;
}
