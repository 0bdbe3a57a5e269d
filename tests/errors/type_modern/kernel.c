__global__ void scale(float16* X, int n) {
  *X = n;
}
