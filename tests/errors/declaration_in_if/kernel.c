__global__ void scale(float* X, int n) {
  if (int m = n)
    *X = m;
}
