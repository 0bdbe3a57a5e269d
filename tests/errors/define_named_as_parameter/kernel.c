__global__ void fill(float* X, int n) {
  *(X + 0 ... TM) = n;
}
