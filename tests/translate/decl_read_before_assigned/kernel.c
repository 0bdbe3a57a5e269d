void f(float *Y) {
  int r[T] = 0 ... T;
  float x[T];
  float y[T] = r > 3 ? 1 : 2;
  *(Y + r) = r < 0 ? x : y;
}
