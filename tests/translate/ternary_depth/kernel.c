void f(float *X, int *L, float *Y, int n) {
  int r[T] = 0 ... T;
  float y[T] = r < n ? exp(-(float[T])*(X + r)) + 1 : 0;
  float z[T] = r < n ? *(X + *(L + r)) : -1;
  *(Y + r) = y;
  *(Y + T + r) = z;
}
