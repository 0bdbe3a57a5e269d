void f(long *X, long *Z, long *Y, int n) {
  int r[T] = 0 ... T;
  long x[T] = *(X + r);
  long z[T] = *(Z + r);
  *(Y + r) = x * z;
  *(Y + T + r) = x + n * n;
  *(Y + 2 * T + r) = x / z;
  *(Y + 3 * T + r) = x % z;
  *(Y + 4 * T + r) = x >> 33;
  *(Y + 5 * T + r) = x << 3;
  *(Y + 6 * T + r) = n * z;
  *(Y + 7 * T + r) = (long)n * n;
  *(Y + 8 * T + r) = x & n;
}
