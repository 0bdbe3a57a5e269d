__global__ void fill(float* X) {
  int rm[32] = 0 ... TM * 2;
  *(X + rm) = 0;
}
