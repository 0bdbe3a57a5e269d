void f(float *X, int *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = *((int *)(X + 2) + r);
  *(Y + T + r) = *((short *)X + 2 * r + 1);
}
