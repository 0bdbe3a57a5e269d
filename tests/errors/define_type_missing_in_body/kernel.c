__global__ void scale(float* X, int N) {
  int rm[64] = 0 ... 64;
  TYPE x[64] = *(X + rm);
  *(X + rm) = x;
}
