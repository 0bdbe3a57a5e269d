__global__ void first(float* X, int M, int N) {
  if (M > 4 and N > 4)
    *X = 0;
}
