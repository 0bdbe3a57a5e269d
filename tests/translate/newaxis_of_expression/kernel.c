void f(float *X, float *Y, int M, int N) {
  int rx[T] = 0 ... T;
  int ry[T] = 0 ... T;
  bool check[T, T] = (rx < M)[:, newaxis] && (ry < N)[newaxis, :];
  float x[T, T] = *?(check)(X + (rx * N)[:, newaxis] + ry[newaxis, :]);
  *?(check)(Y + (rx * N)[:, newaxis] + ry[newaxis, :]) = x + (rx - ry)[newaxis, :];
}
