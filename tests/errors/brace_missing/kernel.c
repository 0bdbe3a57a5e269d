__global__ void clear(float* X, int N) {
  for (int i = 0; i < N; i += 1) {
    *(X + i) = 0;
}
