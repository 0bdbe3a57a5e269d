static const int T = 64;
__global__ void mode(int* X) {
  T = 32;
  *X = T;
}
