__global__ void cast(float* X) {
  float x[16] = *(X + 0 ... 16);
  *(X + 0 ... 16) = ((float[8])x)[+];
}
