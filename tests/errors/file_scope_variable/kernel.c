int counter;
float table[4] = 0;
__global__ void mode(int* X, int n) {
  *X = counter + n;
}
