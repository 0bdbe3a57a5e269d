void f(float *X, float *Z, float *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float z[T] = *(Z + r);
  *(Y + r) = abs(x);
  *(Y + T + r) = fabs(x);
  *(Y + 2 * T + r) = floor(x);
  *(Y + 3 * T + r) = ceil(x);
  *(Y + 4 * T + r) = fma(x, z, x);
  *(Y + 5 * T + r) = abs(r - 5);
}
