__global__ void move(float *X, float v) {
  float *p = (float *)v;
  *p = 1;
}
