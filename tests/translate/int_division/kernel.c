void f(int *X, int *Z, int *Y, int n) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  int z[T] = *(Z + r);
  *(Y + r) = x / z;
  *(Y + T + r) = x % z;
  *(Y + 2 * T + r) = x / 7;
  *(Y + 3 * T + r) = x % -7;
  *(Y + 4 * T + r) = -100 / z;
  *(Y + 5 * T + r) = -100 % z;
  *(Y + 6 * T + r) = x / n;
  *(Y + 7 * T + r) = x % n;
  *(Y + 8 * T + r) = -7 / 2 + -7 % 2 * 10;
  *(Y + 9 * T + r) = (x / z) * z + x % z;
}
