__global__ void today(float* X, int n) {
  float a[16] = 1;
  float b[8] = 1;
  *(X + 0 ... 16) = max(a, b);
  *(X + 0 ... 16) = fma(a, a, X);
}
