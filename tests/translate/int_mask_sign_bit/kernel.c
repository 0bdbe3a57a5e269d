void f(int *X, int *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + r) ^ (1 << 31);
}
