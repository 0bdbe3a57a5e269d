void f(half *X, half *Z, double *Y, float f, double d, int n, bool b, long l) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half z[T] = *(Z + r);
  *(Y + r) = x * f;
  *(Y + T + r) = x * d;
  *(Y + 2 * T + r) = x * n;
  *(Y + 3 * T + r) = x + b;
  *(Y + 4 * T + r) = (float)x * z;
  *(Y + 5 * T + r) = x * l;
}
