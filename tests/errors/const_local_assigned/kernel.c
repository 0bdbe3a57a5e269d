__global__ void pick(float* X, const int n, float* const Y) {
  const int m = 4;
  m = 5;
  n -= 1;
  Y += n;
  *Y = m;
}
