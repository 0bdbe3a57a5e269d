__global__ void permute(float* X) {
  int r[16] = 0 ... 16;
  *(X + ^r) = trans(r);
}
