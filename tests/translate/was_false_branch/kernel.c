void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  *(Y + r) = r < n ? 1 : *(X + r - n);
}
