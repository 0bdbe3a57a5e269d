__global__ void fill(float* X, float row[16]) {
  *(X + 0 ... 16) = row;
}
