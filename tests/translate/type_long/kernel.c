void f(long *X, long long *Y, long s) {
  int r[T] = 0 ... T;
  long x[T] = *(X + r);
  *(Y + r) = x * 3 + s - x / 7;
}
