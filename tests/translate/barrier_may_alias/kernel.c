void f(float *X, float *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = r;
  *(Y + T + r) = *(X + T - 1 - r);
}
