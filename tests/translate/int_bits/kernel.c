void f(int *X, int *Z, int *Y) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  int z[T] = *(Z + r);
  *(Y + r) = x & z;
  *(Y + T + r) = x | z;
  *(Y + 2 * T + r) = x ^ z;
  *(Y + 3 * T + r) = ~x;
  *(Y + 4 * T + r) = x >> 5;
  *(Y + 5 * T + r) = x >> (z & 31);
  *(Y + 6 * T + r) = x << (z & 31);
  *(Y + 7 * T + r) = -1 >> 1;
  *(Y + 8 * T + r) = x & 255 | z & ~255;
}
