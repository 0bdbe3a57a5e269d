__global__ void scale(float* X, int N, int N) {
  *X = N;
}
