void f(char *X, long *Y, int n) {
  int r[T] = 0 ... T;
  char x[T] = *(X + r);
  long y[T] = x;
  bool b[T] = r * 2;
  *(Y + r) = y;
  *(Y + T + r) = b;
  *(Y + 2 * T + r) = 2 && n;
  *(Y + 3 * T + r) = (r & 4) && (r & 8);
}
