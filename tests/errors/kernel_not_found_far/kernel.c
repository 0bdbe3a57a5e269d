__global__ void forward(float* X) { *X = 1; }
