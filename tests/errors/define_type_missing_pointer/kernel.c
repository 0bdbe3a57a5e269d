__global__ void scale(float* X, int N) {
  int rm[64] = 0 ... 64;
  TYPE* px[64] = X + rm;
  *px = 0;
}
