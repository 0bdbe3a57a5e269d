__global__ void outer(float* X) {
  int r[16] = 0 ... 16;
  float a[16, 16] = 1;
  float c[8] = 0;
  *(X + r[:, newaxis] * 16 + r[newaxis, :]) = dot(a, a, c);
}
