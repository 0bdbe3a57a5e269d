__global__ void first(float* X) {
  int = 4;
  *X = 0;
}
