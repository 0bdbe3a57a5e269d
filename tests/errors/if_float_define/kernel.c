#if SCALE > 1
#endif
__global__ void pre(float* X) {
  *X = SCALE;
}
