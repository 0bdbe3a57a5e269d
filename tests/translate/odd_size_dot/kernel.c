void f(half *A, half *B, float *C, int K) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[TK] = 0 ... TK;
  half *pa[M, TK] = A + m[:, newaxis] * K + k[newaxis, :];
  half *pb[TK, N] = B + k[:, newaxis] * N + n[newaxis, :];
  float c[M, N] = 0;
  for (int i = 0; i < K; i += TK) {
    c += *pa @ *pb;
    pa += TK;
    pb += TK * N;
  }
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
