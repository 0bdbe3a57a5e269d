__global__ void today(float* X, int* Y, int n) {
  *(n > 0 ? X : Y) = 1;
  *(n > 0 ? X : n) = 1;
}
