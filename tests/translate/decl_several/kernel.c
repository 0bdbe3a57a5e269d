void f(float *X, float *Y) {
  int r[T] = 0 ... T, n = 2, *none;
  float *p[T] = X + r, *q[T] = Y + r, x[T], s = 0.5;
  x = *p;
  *q = x * n + s;
}
