void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float x[T] = *?(r < n)p;
  float y[T] = * ? (r >= n) (X + r);
  *(Y + r) = x * 2 + y;
}
