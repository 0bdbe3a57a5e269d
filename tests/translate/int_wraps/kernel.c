void f(int *X, int *Z, int *Y) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  int z[T] = *(Z + r);
  *(Y + r) = x + z;
  *(Y + T + r) = x - z;
  *(Y + 2 * T + r) = x * z;
  *(Y + 3 * T + r) = x << 7;
  *(Y + 4 * T + r) = -x;
  *(Y + 5 * T + r) = x * x * x + 1;
  *(Y + 6 * T + r) = x + 2147483647;
  *(Y + 7 * T + r) = (x + x) / 2;
}
