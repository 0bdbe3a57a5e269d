void f(half *A, half *B, half *C, int K) {
  int i[T] = 0 ... T;
  half c[T, T] = 0;
  for (int k = 0; k < K; k += T) {
    half a[T, T] = *(A + i[:, newaxis] * K + k + i[newaxis, :]);
    half b[T, T] = *(B + (k + i)[:, newaxis] * T + i[newaxis, :]);
    c += a @ b;
  }
  *(C + i[:, newaxis] * T + i[newaxis, :]) = c;
}
