__global__ void fill(float* X) {
  float x[TM / 64] = 0;
  *X = x[+];
}
