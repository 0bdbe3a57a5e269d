__global__ void bits(float* X, float f) {
  *X = f % 2 + (f & 1);
  *X = ~f;
}
