void f(float *X, float *Y, int n) {
  int r[T];
  float s, y[T];
  r = 0 ... T;
  if (n > 0) {
    s = 2;
    y = *(X + r);
  } else {
    s = 3;
    y = 1;
  }
  *(Y + r) = y * s;
}
