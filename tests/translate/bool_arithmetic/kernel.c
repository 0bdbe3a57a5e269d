void f(bool *X, bool *Z, int *Y) {
  int r[T] = 0 ... T;
  bool x[T] = *(X + r);
  bool z[T] = *(Z + r);
  *(Y + r) = x + z;
  *(Y + T + r) = x * 3 - z;
  *(Y + 2 * T + r) = x & z;
  *(Y + 3 * T + r) = x | z;
  *(Y + 4 * T + r) = x ^ z;
  *(Y + 5 * T + r) = !x;
  *(Y + 6 * T + r) = ~x;
  *(Y + 7 * T + r) = -x;
  *(Y + 8 * T + r) = x == z;
  *(Y + 9 * T + r) = x << 2;
  *(Y + 10 * T + r) = x < z;
}
