__global__ void find(int* X, int N) {
  for (int i = 0; i < N; i += 1) {
    if (*(X + i) == 0)
      break;
    *(X + i) = 1;
  }
}
