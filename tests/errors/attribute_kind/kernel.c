__global__ void scale(float* X __multipleof(8), int n __aligned(16), float s __multipleof(2)) {
  *X = n * s;
}
