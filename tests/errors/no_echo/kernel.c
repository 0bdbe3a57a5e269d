__global__ void once(float* X, int N) {
  int rm[TMM] = 0 ... TMM;
  float* px[TMM] = X + rm;
  float x[TMM] = *px;
  x = x * 2;
  *px = x;
}
