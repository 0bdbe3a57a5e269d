__global__ void first(float* X) {
  if (*X > 0) {
    *X = 0;
}

__global__ void second(float* X) {
  *X = 1;
}
