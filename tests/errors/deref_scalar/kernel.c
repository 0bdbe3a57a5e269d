__global__ void first(float* X, int n) {
  float x = *n;
  *n = x;
}
