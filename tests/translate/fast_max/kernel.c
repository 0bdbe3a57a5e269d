void f(float *X, float *Y, int *N, float *Z) {
  int r[16] = 0 ... 16;
  float x[16] = *(X + r);
  float y[16] = *(Y + r);
  // a NaN is left out, where C keeps it in one of the two places
  *(Z + r) = max(x, y);
  *(Z + 16 + r) = min(x, y);
  *(N + r) = max(*(N + r), 3);
}
