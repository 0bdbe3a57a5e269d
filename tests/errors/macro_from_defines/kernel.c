__global__ void pre(float* X, int lda) {
  *(X + STRIDE_AK) = 1;
}
