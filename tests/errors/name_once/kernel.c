__global__ void scale(float* X, int N) {
  int i = n * 2 + n;
  if (n > 4)
    *(X + i) = n;
}
