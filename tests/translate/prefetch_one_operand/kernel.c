void mm(half *A, half *B, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *pa;
  for (int k = 0; k < K; k += T) {
    half b[T, T] = *(pb + k * T);
    c += a @ b;
    pa += T;
    a = *pa;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
