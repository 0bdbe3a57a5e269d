void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  *(Y + r) = select(x > 0, x, n);
  *(Y + T + r) = select(r < n, *(X + r), 0.5);
}
