void f(half *X, half *Z, float *Y) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half z[T] = *(Z + r);
  *(Y + r) = exp(x);
  *(Y + T + r) = log(x);
  *(Y + 2 * T + r) = exp(r);
  *(Y + 3 * T + r) = sqrt(r);
  *(Y + 4 * T + r) = exp(x) + x;
  *(Y + 5 * T + r) = exp(x > 0);
}
