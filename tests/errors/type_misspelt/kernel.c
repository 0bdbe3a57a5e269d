__global__ void scale(flaot* X, int n) {
  *X = n;
}
