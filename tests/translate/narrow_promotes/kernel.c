void f(char *X, char *Z, int *Y) {
  int r[T] = 0 ... T;
  char x[T] = *(X + r);
  char z[T] = *(Z + r);
  unsigned char u[T] = x;
  *(Y + r) = x + z;
  *(Y + T + r) = x * z;
  *(Y + 2 * T + r) = x << 4;
  *(Y + 3 * T + r) = x / 3;
  *(Y + 4 * T + r) = -x;
  *(Y + 5 * T + r) = ~x;
  *(Y + 6 * T + r) = (x + z) >> 1;
  *(Y + 7 * T + r) = x > z;
  *(Y + 8 * T + r) = u * u;
}
