__global__ void first(float* X) {
  *X = 1
}

__global__ void second(float* X) {
  *X = ;
}
