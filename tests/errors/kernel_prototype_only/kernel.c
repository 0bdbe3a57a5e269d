__global__ void scale(float* X, int n);
