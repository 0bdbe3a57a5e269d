__global__ void fill(long* X) {
  *X = SEED;
}
