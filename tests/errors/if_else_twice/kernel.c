__global__ void pre(float* X) {
#ifdef AT
  *X = 1;
#else
  *X = 2;
#else
  *X = 3;
#endif
}
