void mm(half *A, half *B, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  bool checka[T, T] = i[newaxis, :] < K;
  bool checkb[T, T] = i[:, newaxis] < K;
  half a[T, T] = checka ? *pa : 0;
  half b[T, T] = checkb ? *pb : 0;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    pa += T;
    pb += T * T;
    checka = i[newaxis, :] < k - T;
    checkb = i[:, newaxis] < k - T;
    a = *?(checka)pa;
    b = *?(checkb)pb;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
