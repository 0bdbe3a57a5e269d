__global__ void mode(int* X) {
  const int n = 4;
  n = 5;
  *X = n;
}
