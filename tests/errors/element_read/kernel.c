__global__ void first(float* X, int i) {
  int rm[16] = 0 ... 16;
  float x[16] = *(X + rm);
  float y = x[3];
  float z = X[i];
  *X = y + z;
}
