__global__ void first(float* X, int n) {
  int m = n * ;
  *X = m;
}
