__global__ void (float* X) {
  *X = 1;
}
