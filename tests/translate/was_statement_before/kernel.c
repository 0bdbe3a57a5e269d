void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float y[T] = r < n ? x : 0;
  *(Y + r) = x;
  *(Y + T + r) = y;
}
