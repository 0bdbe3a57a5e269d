__global__ void bits(int* X, float f) {
  *X = bitcast(f);
}
