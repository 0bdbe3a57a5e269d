__global__ void fill(float* X) {
  *(X + 0 ... TM) = 0;
}
