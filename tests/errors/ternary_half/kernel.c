__global__ void sum(float* X, int N) {
  *X = N > 0 ? 1;
}
