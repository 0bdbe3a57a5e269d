__global__ void bits(int* X, int n) {
  *X = (1 << (TN - 5)) + (n >> 32);
  long x = (long)n << 64;
  n <<= -1;
  *X = TN < 5 ? n >> 32 : 0;
}
