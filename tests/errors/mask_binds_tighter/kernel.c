__global__ void store(float* X, int n) {
  int r[TM] = 0 ... TM;
  *?(r < n) X + r = 0;
  *X + r = 1;
}
