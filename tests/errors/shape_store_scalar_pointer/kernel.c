__global__ void store(float* X) {
  int rm[16] = 0 ... 16;
  float y[16, 16] = 1;
  *(X + rm) = y;
}
