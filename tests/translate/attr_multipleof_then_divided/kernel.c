void f(float *X, float *Y, int K __multipleof(8)) {
  int r[T] = 0 ... T;
  K = K / 8;
  *(Y + r) = *(X + r[:] * K);
}
