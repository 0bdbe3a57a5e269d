__global__ void sums(float* X) {
  float x[16] = *(X + 0 ... 16);
  *X = x[sum];
}
