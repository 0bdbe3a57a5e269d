__global__ void fill(float* X, int N) {
  int start = 4;
  int rm[16] = start ... start + 16;
  *(X + rm) = 0;
}
