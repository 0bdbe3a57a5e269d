__global__ void types(float* X, float f) {
  float* p = (float*)f;
  int i = (int)X;
  *p = i;
}
