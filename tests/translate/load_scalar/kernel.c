void f(float *X, float *Y, int n) {
  float *p = X + n;
  float a = *p;
  *Y = a;
  *(Y + 1) = *X + *(p + 1) * 2;
}
