void f(int *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = r;
  __debug_barrier();
  int x[T] = *(Y + T - 1 - r);
  *(Y + T + r) = x;
}
