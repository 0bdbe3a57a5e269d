__global__ void next(int* X) {
  int n = n + 1;
  *X = n;
}
