__global__ void outer(float* X) {
  int rm[16] = 0 ... 16;
  float* px[16, 16] = X + rm[:, newaxis + rm[newaxis, :];
  *px = 0;
}
