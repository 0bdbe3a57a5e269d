void f(float *X, int *Y) {
  int r[T] = 0 ... T;
  int *p = X;
  int *q[T] = X + r;
  *(Y + r) = *(p + r) - *q + *(p + r);
}
