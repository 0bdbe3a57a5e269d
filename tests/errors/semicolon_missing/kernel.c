__global__ void copy(float* X, float* Y) {
  int rm[16] = 0 ... 16
  float* px[16] = X + rm;
  *(Y + rm) = *px;
}
