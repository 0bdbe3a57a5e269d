__global__ void scale(float* X __attribute__((aligned)), int n __attribute__((multipleof(2, 4)))) {
  *X = n;
}
