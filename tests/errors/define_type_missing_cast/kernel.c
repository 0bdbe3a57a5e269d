__global__ void scale(float* X, int N) {
  float c[64] = 1;
  *(X + 0 ... 64) = (TYPE[64])c;
}
