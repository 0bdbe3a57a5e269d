__global__ void sums(float* X) {
  int rm[16] = 0 ... 16;
  float x[16, 8] = 1;
  *(X + rm) = x[+];
}
