__global__ void sum(float* X, int N) {
  if N > 0
    *X = 0;
}
