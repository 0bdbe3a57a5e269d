void f(char *X, char *Y, char s) {
  int r[T] = 0 ... T;
  char x[T] = *(X + r);
  char y[T] = x * x + s;
  *(Y + r) = y - x / 3;
}
