__global__ void mode(int* X, int n) {
  *(X + n++) = 1;
}
