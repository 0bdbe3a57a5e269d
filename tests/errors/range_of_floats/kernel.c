__global__ void fill(float* X) {
  float x[16] = 0.0 ... 16.0;
  *(X + 0 ... 16) = x;
}
