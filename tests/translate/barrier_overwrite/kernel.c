void f(float *X) {
  int r[T] = 0 ... T;
  float x[T] = *(X + T - 1 - r);
  *(X + r) = x;
}
