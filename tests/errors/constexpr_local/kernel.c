__global__ void fill(float* X) {
  constexpr int m = 4;
  *X = m;
}
