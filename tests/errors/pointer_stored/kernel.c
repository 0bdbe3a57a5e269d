__global__ void load(float* X, float* Y) {
  *X = Y;
}
