__global__ void scale(float* X) {
  void n = 3;
  *X = n;
}
