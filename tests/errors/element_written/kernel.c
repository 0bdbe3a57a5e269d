__global__ void first(float* X, int i) {
  X[i] = 0;
}
