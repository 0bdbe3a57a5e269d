void mm(half *A, half *B, half *V, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 0;
  half *pa[T, T] = A + i[:, newaxis] * K + i[newaxis, :];
  half *pb[T, T] = B + i[:, newaxis] * T + i[newaxis, :];
  half *pv[T] = V + i;
  half a[T, T] = *pa;
  half v[T] = *pv;
  a = a + v[newaxis, :];
  a = a > 0 ? a : 0;
  half b[T, T] = *pb;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    pa += T;
    pb += T * T;
    pv += T;
    half raw[T, T] = *pa;
    half biased[T, T] = raw + (*pv)[newaxis, :];
    a = biased > 0 ? biased : 0;
    b = *pb;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
