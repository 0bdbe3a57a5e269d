void f(int *Y) {
  int r[T] = 0 ... T;
  int *p[T] = Y + r;
  *p = 1;
  int x[T] = *p;
  *p = x + r;
  *?(r > 7)p = -1;
}
