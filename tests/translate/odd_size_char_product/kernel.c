void f(char *X, int *Y) {
  int r[5] = 0 ... 5;
  char x[5, 5] = *(X + r[:, newaxis] * 5 + r[newaxis, :]);
  bool b[5, 5] = x > 0;
  *(Y + r[:, newaxis] * 5 + r[newaxis, :]) = (char)b @ x;
}
