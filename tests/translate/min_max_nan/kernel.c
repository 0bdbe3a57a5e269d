void f(float *X, float *Z, float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float z[T] = *(Z + r);
  *(Y + r) = min(x, z);
  *(Y + T + r) = max(x, z);
  *(Y + 2 * T + r) = max(x, 0);
  *(Y + 3 * T + r) = min(0, x);
  *(Y + 4 * T + r) = max(x, n);
}
