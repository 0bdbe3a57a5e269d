__global__ void scale(float* X __aligned(12), int n __multipleof(0), int m __multipleof(n)) {
  *X = n + m;
}
