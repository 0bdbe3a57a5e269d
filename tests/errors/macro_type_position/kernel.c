#define STRIDE ldd
__global__ void pre(float* X, int lda) {
  int offset = 4 * STRIDE;
  *(X + offset) = 1;
}
