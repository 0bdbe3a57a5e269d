void f(float *X, float *Y) {
  int i[M] = 0 ... M;
  int j[N] = 0 ... N;
  float x[M, N] = *(X + i[:, newaxis] * N + j[newaxis, :]);
  *(Y + j[:, newaxis] * M + i[newaxis, :]) = ^x - x[:, max][newaxis, :];
  *(Y + 144 + i) = exp(x * 0)[:, +];
  *(Y + 147 + j) = x[min, :];
}
