__global__ void load(float* X, long n) {
  int address = X;
  float* p = n;
  *p = address;
}
