__global__ void sum(float* X) { #ifdef AT
  *X = 1;
}
