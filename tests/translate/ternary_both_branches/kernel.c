void f(float *X, float *Z, float *Y, int n) {
  int r[T] = 0 ... T;
  *(Y + r) = r < n ? *(X + r) : *(Z + r - n);
}
