__global__ void calls(float* X) {
  *X = exp(float);
}
