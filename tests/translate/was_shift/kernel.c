void f(int *X, int *Y, unsigned u) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + r) >> 4;
  *(Y + T) = u >> 4;
  *(Y + T + 1) = -16 >> 2;
}
