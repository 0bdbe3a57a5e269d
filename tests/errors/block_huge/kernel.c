__global__ void fill(float* X) {
  float x[TM, TN] = 0;
  *X = x[+, +];
}
