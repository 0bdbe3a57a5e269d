void f(bfloat16 *A, bfloat16 *B, float *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  bfloat16 a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  bfloat16 b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  float c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
