void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float x[T] = *p;
  for (int i = 0; i < n; i++) {
    float y[T] = x + 1;
    p += T;
    x = *p;
    *(Y + i * T + r) = y;
  }
}
