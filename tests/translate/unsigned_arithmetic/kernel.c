void f(unsigned *X, unsigned *Z, unsigned *Y) {
  int r[T] = 0 ... T;
  unsigned x[T] = *(X + r);
  unsigned z[T] = *(Z + r);
  *(Y + r) = x / z;
  *(Y + T + r) = x % z;
  *(Y + 2 * T + r) = x >> 3;
  *(Y + 3 * T + r) = x > z;
  *(Y + 4 * T + r) = x - z > 0;
  *(Y + 5 * T + r) = -x;
  *(Y + 6 * T + r) = x > 2147483647;
  *(Y + 7 * T + r) = ~x / 2;
  *(Y + 8 * T + r) = x * z;
}
