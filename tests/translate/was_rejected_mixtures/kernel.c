void f(float *X, half *H, float *Y, unsigned u) {
  int r[16] = 0...16;
  float x[16] = *(X + r);
  half h[16] = *(H + r);
  *(Y + r) = x + u;
  *(Y + 16 + r) = exp(h);
  *(Y + 32 + r) = x ? h : x;
  *(Y + 48 + r) = (int)x;
  *(Y + 64 + r) = *?(r & 2)(X + r);
}
