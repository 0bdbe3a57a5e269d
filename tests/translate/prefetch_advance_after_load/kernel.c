void mm(half *A, half *B, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  int step = T;
  half a[T, T] = *pa;
  half b[T, T] = *pb;
  pa += T;
  pb += T * T;
  for (int k = K; k > 0; k -= step) {
    c += a @ b;
    a = *?(k > T)pa;
    b = *?(k > T)pb;
    pa += T;
    pb += T * T;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
