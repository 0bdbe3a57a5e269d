void f(float *X, float *Y, int n, int m) {
  int r[T] = 0 ... T;
  *(Y + r) = r < n ? *?(r >= m)(X + r) + 1 : -1;
}
