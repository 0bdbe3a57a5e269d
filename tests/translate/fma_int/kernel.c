void f(int *X, int *Y, long *L, char *C) {
  int r[T] = 0 ... T;
  *(Y + r) = fma(3, *(X + r), r);
  *(L + r) = fma(*(L + r), *(X + r), 7);
  *(Y + T + r) = fma(*(C + r), *(C + r), *(C + r));
}
