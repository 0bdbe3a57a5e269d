__global__ void load(float* X, float* Y, float f) {
  float* p = X + Y;
  float* q = X * 2;
  float* r = X + f;
  *p = *q + *r;
}
