void f(long *A, unsigned *B, long *C, short *D) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  long a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  unsigned b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  *(C + m[:, newaxis] * N + n[newaxis, :]) = a @ b + 1;
  // short @ bool
  short d[M, K] = *(D + m[:, newaxis] * K + k[newaxis, :]);
  *(C + M * N + m[:, newaxis] * N + n[newaxis, :]) = d @ (b > 0);
}
