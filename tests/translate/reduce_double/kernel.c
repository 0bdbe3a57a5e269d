void f(double *X, double *Y) {
  int r[T] = 0 ... T;
  double x[T] = *(X + r);
  *Y = x[+];
  *(Y + 1) = x[max] + x[min];
}
