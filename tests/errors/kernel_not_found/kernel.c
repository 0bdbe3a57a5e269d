__global__ void forward(float* X) { *X = 1; }
__global__ void backward(float* X) { *X = 2; }
