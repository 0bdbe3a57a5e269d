__global__ void sum(float* X) {
  float acc[16] = 0;
  float x[16, 16] = 1;
  acc = x;
  acc += x;
  *(X + 0 ... 16) = acc;
}
