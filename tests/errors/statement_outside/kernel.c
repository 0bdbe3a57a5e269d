int n = 4;
n = n + 1;
__global__ void scale(float* X) {
  *X = n;
}
