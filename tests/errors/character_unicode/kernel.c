__global__ void chars(float* X, int n) {
  *X = n × 2;
  *X = n – 2;
  *X = n + 2;
}
