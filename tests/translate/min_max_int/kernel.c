void f(int *X, int *Z, int *Y, char c, unsigned u) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  int z[T] = *(Z + r);
  *(Y + r) = min(x, z);
  *(Y + T + r) = max(x, z);
  *(Y + 2 * T + r) = min(x, c);
  *(Y + 3 * T + r) = max(x, u) / 2;
  *(Y + 4 * T + r) = min(-1, u);
  *(Y + 5 * T + r) = max(min(x, 10), -10);
}
