void f(half *A __readonly, half *B __readonly, float *C __noalias, int n) {
  int m[M] = 0 ... M;
  int c[N] = 0 ... N;
  half *pa[M, K] = A + m[:, newaxis] * n + (0 ... K)[newaxis, :];
  half *pb[N, K] = B + c[:, newaxis] * n + (0 ... K)[newaxis, :];
  float sum[M, N] = 0;
  // whole turns only
  for (int k = 0; k < n; k += K) {
    sum += *pa @ ^(*pb);
    pa += K;
    pb += K;
  }
  *(C + m[:, newaxis] * N + c[newaxis, :]) = sum;
}
