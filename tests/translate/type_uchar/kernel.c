void f(unsigned char *X, unsigned char *Y, unsigned char s) {
  int r[T] = 0 ... T;
  unsigned char x[T] = *(X + r);
  unsigned char y[T] = x * x + s;
  *(Y + r) = y - x / 3;
}
