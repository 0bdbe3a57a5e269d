__global__ void load(float* X) {
  int rm[16] = 0 ... 16;
  float* px[16] = *(X + rm);
  *px = 0;
}
