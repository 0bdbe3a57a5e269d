__global__ void sum(float* X, int N) {
  for (int i = 0; i < N)
    *(X + i) = 0;
}
