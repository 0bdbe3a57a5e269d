__global__ void sum(int* X, int N) {
  do {
    *X = N;
    N = N - 1;
  } while (N > 0)
}
