__global__ void fill(float* X) {
  int rm[TM] = 0 ... TM;
  *(X + rm) = 0;
}
