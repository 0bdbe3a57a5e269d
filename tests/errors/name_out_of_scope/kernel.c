__global__ void sum(float* X, int N) {
  for (int i = 0; i < N; i += 1) {
    float last = *(X + i);
  }
  *X = last;
}
