__global__ void bits(int* X, int n) {
  *X = n / (TM - 64) + n % 0;
}
