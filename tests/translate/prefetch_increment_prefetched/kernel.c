void mm(half *A, half *B, float *C, int K, int *D) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  // the table holds where each step starts, less where the one before did
  int *pd = D;
  int d = *pd;
  pa += d;
  pb += d * T;
  pd += 1;
  half a[T, T] = *pa;
  half b[T, T] = *pb;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    d = *pd;
    pa += d;
    pb += d * T;
    pd += 1;
    a = *pa;
    b = *pb;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
