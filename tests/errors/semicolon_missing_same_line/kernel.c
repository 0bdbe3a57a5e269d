__global__ void store(float* X) {
  int i = 1 int j = 2;
  *(X + i) = j;
}
