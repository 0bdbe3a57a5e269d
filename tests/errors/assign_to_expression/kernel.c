__global__ void mode(int* X, int n) {
  n + 1 = 4;
  4 = n;
  *X = n;
}
