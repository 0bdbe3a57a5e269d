void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float a[T] = r < n ? *(X + r) : -INFINITY;
  float b[T] = r < n ? 2.5 : *(X + r);
  *(Y + r) = a;
  *(Y + T + r) = b;
}
