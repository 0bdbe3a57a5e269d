void mm(half *A, half *B, float *C, int K, int *inc) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *pa;
  half b[T, T] = *pb;
  int *pinc = inc;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    int d = *pinc;
    pa += d;
    pb += d * T;
    pinc += 1;
    bool more = k > T;
    a = *?(more)pa;
    b = *?(more)pb;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
