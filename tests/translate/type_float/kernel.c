void f(float *X, float *Y, float s) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float y[T] = x * s;
  *(Y + r) = y - x;
}
