void f(half *X, half *Z, double *Y, float f, int n) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half z[T] = *(Z + r);
  *(Y + r) = x * 0.1;
  *(Y + T + r) = x * 0.1f;
  *(Y + 2 * T + r) = n * 0.1;
  *(Y + 3 * T + r) = f * 0.5 + 0.1;
}
