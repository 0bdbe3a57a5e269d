void f(half *A, half *B, float *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  half a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  half b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  float c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
