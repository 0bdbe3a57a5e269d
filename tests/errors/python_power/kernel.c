__global__ void square(float* X, float y) {
  *X = y ** 2;
}
