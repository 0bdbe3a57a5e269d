__global__ void first(float* X, int N) {
  int rm[16] = 0 ... 16;
  int last = rm;
  *(X + last) = 0;
}
