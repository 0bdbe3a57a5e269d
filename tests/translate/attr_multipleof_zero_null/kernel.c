void f(float *X __aligned(16), float *Y, int n __multipleof(32)) {
  int r[T] = 0 ... T;
  *(Y + r) = r + n;
}
