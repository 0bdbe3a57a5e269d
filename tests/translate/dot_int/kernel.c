void f(int *A, int *B, int *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  int a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  int b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  int c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
