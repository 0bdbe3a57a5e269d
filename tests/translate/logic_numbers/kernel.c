void f(float *X, float *Z, int *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float z[T] = *(Z + r);
  *(Y + r) = x && z;
  *(Y + T + r) = x || 0;
  *(Y + 2 * T + r) = !x;
  *(Y + 3 * T + r) = !!x;
  *(Y + 4 * T + r) = x && 1;
  *(Y + 5 * T + r) = r && x;
}
