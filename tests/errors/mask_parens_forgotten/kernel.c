__global__ void load(float* X, int N) {
  int rm[16] = 0 ... 16;
  float x[16] = *?(rm < N) X + rm;
  *(X + rm) = x;
}
