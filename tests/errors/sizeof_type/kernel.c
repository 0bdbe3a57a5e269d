__global__ void numbers(int* X) {
  *X = sizeof float;
}
