__global__ void outer(float* X) {
  int rm[16) = 0 ... 16;
  *(X + rm) = 0;
}
