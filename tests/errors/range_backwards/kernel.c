__global__ void fill(float* X) {
  int rm[16] = TM ... 0;
  *(X + rm) = 0;
}
