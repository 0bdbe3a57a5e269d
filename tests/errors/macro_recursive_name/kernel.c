#define lda ldb
#define ldb lda
__global__ void pre(float* X) {
  *(X + lda) = 1;
}
