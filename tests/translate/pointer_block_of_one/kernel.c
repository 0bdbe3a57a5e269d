void f(float *X, float *Y) {
  float *p[1] = X + (1 ... 2);
  float *q = p;
  *Y = *q;
  float *s[1, 1] = p[:, newaxis] + 1;
  q = s;
  *(Y + 1) = *q;
  float *t = Y + (0 ... 1);
  *(t + 2) = *(q + 1);
}
