#undef TM
__global__ void f(float* X) {
  int r[TM] = 0 ... TM;
  *(X + r) = 1;
}
