void f(float *X, float *Y, int at) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  *p = r * 2;
  *p = *p + 1;
  float one = *(X + at);
  *Y = one;
}
