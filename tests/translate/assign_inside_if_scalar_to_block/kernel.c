void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  if (n > 0)
    x = n;
  *(Y + r) = x;
}
