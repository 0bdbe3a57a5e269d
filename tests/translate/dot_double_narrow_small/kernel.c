// 32 bits are too narrow where the inner size is widened, as in the first product
void f(float *A, double *B, double *C, double *D) {
  int n[N] = 0 ... N;
  int k[K] = 0 ... K;
  float a[N, K] = *(A + n[:, newaxis] * K + k[newaxis, :]);
  double b[K, N] = *(B + k[:, newaxis] * N + n[newaxis, :]);
  *(C + n[:, newaxis] * N + n[newaxis, :]) = a @ b;
  *(D + k[:, newaxis] * K + k[newaxis, :]) = b @ a;
}
