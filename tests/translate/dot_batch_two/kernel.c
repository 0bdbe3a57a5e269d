void f(float *A, float *B, float *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  int h[H] = 0 ... H;
  int g[2] = 0 ... 2;
  int mk[M, K] = m[:, newaxis] * K + k[newaxis, :];
  int kn[K, N] = k[:, newaxis] * N + n[newaxis, :];
  int mn[M, N] = m[:, newaxis] * N + n[newaxis, :];
  int gh[2, H] = g[:, newaxis] * H + h[newaxis, :];
  float a[M, K, 2, H] = *(A + mk[:, :, newaxis, newaxis] * 2 * H + gh[newaxis, newaxis, :, :]);
  float b[K, N, 2, H] = *(B + kn[:, :, newaxis, newaxis] * 2 * H + gh[newaxis, newaxis, :, :]);
  float c[M, N, 2, H] = 1;
  c += a @ b;
  *(C + mn[:, :, newaxis, newaxis] * 2 * H + gh[newaxis, newaxis, :, :]) = c;
}
