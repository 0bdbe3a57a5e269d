void f(float *X, float *Y) {
  int i[M] = 0 ... M;
  int j[N] = 0 ... N;
  int k[M * N] = 0 ... (M * N);
  float x[M, N] = *(X + i[:, newaxis] * N + j[newaxis, :]);
  *(Y + k) = (float[M * N])x;
  *(Y + M * N) = ((float[M*N])x)[+];
  *(Y + 200 + i[:, newaxis] * N + j[newaxis, :]) = (float[M, N])j;
}
