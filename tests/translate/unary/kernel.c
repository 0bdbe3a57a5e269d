void f(float *X, float *Z, float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float z[T] = *(Z + r);
  *(Y + r) = +x;
  *(Y + T + r) = -x;
  *(Y + 2 * T + r) = - -x;
  *(Y + 3 * T + r) = -x * -z;
  *(Y + 4 * T + r) = ~n * x;
  *(Y + 5 * T + r) = !n + x;
  *(Y + 6 * T + r) = -n + +z;
}
