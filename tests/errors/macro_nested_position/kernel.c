#define ROWS 0 ... TM
#define PTR(base, n) ((base) + ROWS * n)
__global__ void pre(float* X, int lda) {
  float* px[TN] = PTR(X, lda);
  *px = 1;
}
