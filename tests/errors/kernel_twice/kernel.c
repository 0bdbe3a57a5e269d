__global__ void scale(float* X) { *X = 1; }
__global__ void scale(float* X, int n) { *X = n; }
