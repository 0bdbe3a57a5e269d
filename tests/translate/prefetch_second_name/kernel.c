void mm(half *A, half *B, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *pa;
  half an[T, T];
  half b[T, T] = *pb;
  for (int k = K; k > 0; k -= T) {
    pa += T;
    pb += T * T;
    bool more = k > T;
    an = *?(more)pa;
    c += a @ b;
    a = an;
    b = *?(more)pb;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
