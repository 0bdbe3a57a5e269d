void f(bool *X, bool *Y, bool s) {
  int r[T] = 0 ... T;
  bool x[T] = *(X + r);
  bool y[T] = r - 2;
  *(Y + r) = x && y;
  *(Y + T + r) = !x || s;
  *(Y + 2 * T + r) = x == s;
  *(Y + 3 * T + r) = x + y;
  *(Y + 4 * T + r) = 2 * s - x;
}
