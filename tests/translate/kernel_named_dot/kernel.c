void exp(float *X, float *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = exp(*(X + r));
}
