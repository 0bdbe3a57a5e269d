void mm(half *A, half *B, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = (i < K)[newaxis, :] ? *pa : 0;
  half b[T, T] = (i < K)[:, newaxis] ? *pb : 0;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    pa += T;
    pb += T * T;
    a = (i < k - T)[newaxis, :] ? *pa : 0;
    b = (i < k - T)[:, newaxis] ? *pb : 0;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
