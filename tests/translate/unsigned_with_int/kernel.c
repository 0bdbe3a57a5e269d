void f(unsigned *X, unsigned *Z, unsigned *Y, int n, long l, char c, unsigned u) {
  int r[T] = 0 ... T;
  unsigned x[T] = *(X + r);
  unsigned z[T] = *(Z + r);
  *(Y + r) = x + n;
  *(Y + T + r) = x > n;
  *(Y + 2 * T + r) = x / n;
  *(Y + 3 * T + r) = n > x ? 1 : 0;
  *(Y + 4 * T + r) = l + x > 0;
  *(Y + 5 * T + r) = x + l;
  *(Y + 6 * T + r) = c < x;
  *(Y + 7 * T + r) = c + c > u;
}
