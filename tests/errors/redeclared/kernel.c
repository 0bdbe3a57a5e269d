__global__ void scale(float* X, int N) {
  int rm[16] = 0 ... 16;
  float rm[16] = *(X + 0 ... 16);
  *(X + 0 ... 16) = rm;
}
