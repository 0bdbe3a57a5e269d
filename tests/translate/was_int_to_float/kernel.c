void f(int *X, float *F, int *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  *(F + r) = x;
  *(Y + r) = x / 2;
}
