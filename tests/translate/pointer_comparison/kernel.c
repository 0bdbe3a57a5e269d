void f(float *X, int *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float *end = X + n;
  *(Y + r) = p < end ? 1 : p == end ? 2 : 3;
}
