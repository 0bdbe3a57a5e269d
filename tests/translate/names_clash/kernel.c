void kernel(float *x, float *lambda_, int lambda) {
  int arange[T] = 0 ... T;
  int kernel = lambda + 1;
  float y[T] = *(x + arange);
  *(lambda_ + arange) = y * kernel;
}
