__global__ void fill(float* X, int n) {
  for (int i = 0; i < n; i++);
    *(X + i) = 0;
}
