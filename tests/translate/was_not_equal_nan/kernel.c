void f(float *X, float *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  *(Y + r) = x != x ? 0 : x;
}
