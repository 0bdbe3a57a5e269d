void f(half *A, half *B, float *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  int h[H] = 0 ... H;
  half a[M, K, H] = *(A + (m[:, newaxis] * K + k[newaxis, :])[:, :, newaxis] * H + h[newaxis, newaxis, :]);
  half b[K, N, H] = *(B + (k[:, newaxis] * N + n[newaxis, :])[:, :, newaxis] * H + h[newaxis, newaxis, :]);
  float c[M, N, H] = a @ b;
  *(C + (m[:, newaxis] * N + n[newaxis, :])[:, :, newaxis] * H + h[newaxis, newaxis, :]) = c;
}
