void f(float *X, float *Y) {
  int r[T] = 0 ... T;
  int c[T] = 0 ... T;
  float x[T, T] = *(X + r[:, newaxis] * T + c[newaxis, :]);
  float low[T] = x[:, min];
  float high[T] = x[:, max];
  *(Y + r) = max(low + high, 0) - min (low, high);
}
