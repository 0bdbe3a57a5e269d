#define STRIDE 4
#define SQUARE(x) ((x) * (x))
__global__ void scale(float* X, int n) {
  *(X + STRID) = SQARE(n);
  *X = SQUARE + n;
}
