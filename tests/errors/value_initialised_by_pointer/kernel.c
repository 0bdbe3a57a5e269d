__global__ void load(float* X) {
  int rm[16] = 0 ... 16;
  float x[16] = X + rm;
  *(X + rm) = x;
}
