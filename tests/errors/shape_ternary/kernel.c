__global__ void store(float* X, int N) {
  int rm[32] = 0 ... 32;
  float a[32] = 1;
  float b[16] = 2;
  *(X + rm) = rm < N ? a : b;
}
