__global__ void mode(int* X, int n) {
  if (n = 4)
    *X = n;
}
