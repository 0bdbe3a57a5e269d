void f(float *X, float *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float s = x[+];
  *Y = s;
  *(Y + 1) = x[max] - x[min];
  *(Y + 2 + r) = x - s;
}
