void f(half *A, half *B, float *C, int K) {
  int i[T] = 0 ... T;
  float c[T, T] = 1;
  for (int k = 0; k < K; k += T) {
    half a[T, T] = *(A + i[:, newaxis] * K + k + i[newaxis, :]);
    half b[T, T] = *(B + (k + i)[:, newaxis] * T + i[newaxis, :]);
    c = a @ b + c;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
