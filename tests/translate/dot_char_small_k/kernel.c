void f(char *A, char *B, int *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  char a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  char b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  int c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
