void f(double *A, double *B, double *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  double a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  double b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  double c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
