void f(float *X, float *Z, int *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float z[T] = *(Z + r);
  *(Y + r) = x < z;
  *(Y + T + r) = x > z;
  *(Y + 2 * T + r) = x <= z;
  *(Y + 3 * T + r) = x >= z;
  *(Y + 4 * T + r) = x == z;
  *(Y + 5 * T + r) = x != z;
  *(Y + 6 * T + r) = x < 0;
  *(Y + 7 * T + r) = 0 != x;
}
