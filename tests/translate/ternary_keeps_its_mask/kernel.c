void f(float *X, float *Y, int n) {
  int r[8] = 0 ... 8;
  float y[8] = r < n ? *?(r > 2)(X + r) : 7.0f;
  *(Y + r) = y;
}
