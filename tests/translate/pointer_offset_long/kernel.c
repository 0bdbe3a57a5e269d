void f(float *X, float *Y, long n) {
  int r[T] = 0 ... T;
  float *p[T] = X + n + r;
  p -= 8;
  p++;
  *(Y + r) = *(p - 1);
}
