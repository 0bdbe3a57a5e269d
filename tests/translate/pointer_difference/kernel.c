void f(double *X, long *Y, int n) {
  int r[T] = 0 ... T;
  double *p[T] = X + r * 3;
  double *q = X + n;
  *(Y + r) = p - q;
  *(Y + T) = q - X;
}
