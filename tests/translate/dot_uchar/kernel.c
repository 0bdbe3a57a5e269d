void f(unsigned char *A, unsigned char *B, char *S, int *C) {
  int m[M] = 0 ... M;
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  unsigned char a[M, K] = *(A + m[:, newaxis] * K + k[newaxis, :]);
  unsigned char b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  char s[K, N] = *(S + k[:, newaxis] * N + n[newaxis, :]);
  int c[M, N] = a @ b;
  *(C + m[:, newaxis] * N + n[newaxis, :]) = c;
  c += a @ s;
  *(C + M * N + m[:, newaxis] * N + n[newaxis, :]) = c;
}
