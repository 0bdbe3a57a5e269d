void f(half *X, half *Z, double *Y, double d) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half z[T] = *(Z + r);
  *(Y + r) = x * 0.1f;
  *(Y + T + r) = d * 0.1f;
}
