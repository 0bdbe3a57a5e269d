void f(float *X, float *Y) {
  int r[24] = 0 ... 24;
  float x[24] = *(X + r);
  *(Y + r) = x / x[+];
}
