// Triton refuses a product of doubles where numbers of few bits, or the places of numbers, were loaded for it
void f(half *A, double *B, short *AT, double *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  double a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  // narrow: what the addresses come from
  int at[K] = *(AT + k);
  double b[K, N] = *(B + at[:, newaxis] * N + n[newaxis, :]);
  // not narrow: a product stands between
  double c[M, N] = a @ b;
  double d[M, M] = c @ ^c;
  *(C + m[:, newaxis] * M + m[newaxis, :]) = d;
}
