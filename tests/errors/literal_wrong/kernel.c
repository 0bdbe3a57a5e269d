__global__ void numbers(float* X) {
  *X = 1.5x;
  *X = 089;
  *X = 0xZZ;
  *X = 1.2.3;
  *X = 1e;
}
