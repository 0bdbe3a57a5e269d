void f(half *X, half *Z, float *Y, int n) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half z[T] = *(Z + r);
  *(Y + r) = x * z;
  *(Y + T + r) = x - z;
  *(Y + 2 * T + r) = x / z;
  *(Y + 3 * T + r) = x * z * z;
  *(Y + 4 * T + r) = -x + n;
  *(Y + 5 * T + r) = x / n;
}
