void f(float *X, float *Y NOTE) {
  int r[T] = FLIP 0 ... T;
  *(Y + 0 ... T) = *(X + r) SCALE;
}
