__global__ void dot(float* A, float* C) {
  int rm[16] = 0 ... 16;
  float a[16] = *(A + rm);
  *C = a @ a;
}
