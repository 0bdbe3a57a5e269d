void f(double *X, double *Y, double s) {
  int r[T] = 0 ... T;
  double x[T] = *(X + r);
  double y[T] = x * s;
  *(Y + r) = y - x;
}
