__global__ void dot(float* A, float s) {
  int r[16] = 0 ... 16;
  float a[16, 16] = *(A + r[:, newaxis] * 16 + r[newaxis, :]);
  *(A + r[:, newaxis] * 16 + r[newaxis, :]) = a @ s;
}
