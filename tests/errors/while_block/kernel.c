__global__ void clamp(float* X) {
  float x[16] = *(X + 0 ... 16);
  while (x > 1)
    x = x / 2;
  *(X + 0 ... 16) = x;
}
