void f(float *X, bfloat16 *B, double *D, float *Y, bfloat16 *C, double *E) {
  int r[16] = 0 ... 16;
  *(Y + r) = floor(*(X + r));
  *(Y + 16 + r) = ceil(*(X + r));
  *(Y + 32) = ceil(*X);
  *(C + r) = ceil(*(B + r));
  *(E + r) = floor(*(D + r));
}
