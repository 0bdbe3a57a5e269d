__global__ void scale(float* X, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    X[i] = 2 * X[i];
}
