void f(char *X, char *Y, char c, short s, int n) {
  *Y = *(X + 128 - c);
  *(Y + 1) = *(X + 128 - s);
  *(Y + 2) = *(X + 128 - n - 2147483648);
}
