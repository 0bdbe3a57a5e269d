void f(float *A, float *B, float *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  float a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  float b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  float c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
