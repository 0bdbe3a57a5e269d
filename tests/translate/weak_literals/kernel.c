void f(half *X, half *Z, double *Y, double d, int n) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half z[T] = *(Z + r);
  *(Y + r) = x * 0.1;
  *(Y + T + r) = d * 0.1;
  *(Y + 2 * T + r) = n * 0.1;
  *(Y + 3 * T + r) = 0.1;
  *(Y + 4 * T + r) = 1.0 / n;
  *(Y + 5 * T + r) = x + 1e-3 * 2;
}
