void f(float *Y, int at) {
  int r[T] = 0 ... T;
  *(Y + r) = 1;
  *(Y + at) = 2;
}
