void f(double *X, double *Z, double *Y, double d) {
  int r[T] = 0 ... T;
  double x[T] = *(X + r);
  double z[T] = *(Z + r);
  *(Y + r) = exp(x);
  *(Y + T + r) = log(x);
  *(Y + 2 * T + r) = sqrt(x);
  *(Y + 3 * T + r) = sin(z);
  *(Y + 4 * T + r) = cos(z);
  *(Y + 5 * T + r) = exp(d);
}
