void mm(half *A, half *B, float *C, int K, int *D) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *pa;
  half b[T, T] = *pb;
  int *pd = D;
  int inc_a = *pd;
  int inc_b = inc_a * T;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    pa += inc_a;
    pb += inc_b;
    pd += 1;
    inc_a = *pd;
    inc_b = inc_a * T;
    a = *?(k > T)pa;
    b = *?(k > T)pb;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
