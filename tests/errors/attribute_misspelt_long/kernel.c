__global__ void scale(float* X __attribute__((alligned(16))), int n) {
  *X = n;
}
