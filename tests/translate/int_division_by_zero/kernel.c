void f(int *X, int *Y, int n, int L) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  // a quotient by zero is thrown away, and x is still known to be zero
  *(Y + r) = x != 0 ? n / x : 0;
  *(Y + T + r) = x ? n % (x * 2) : -1;
  *(Y + 2 * T + r) = x && 7;
  *(Y + 3 * T) = L > 0 ? n / L : -5;
  int o[6] = 0 ... 6;
  *(Y + 3 * T + 1 + o) = 60 / (6 - o);
}
