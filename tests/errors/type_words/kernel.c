__global__ void scale(unsigned float* X) {
  *X = 1;
}
