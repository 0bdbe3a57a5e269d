#define TM = 64
__global__ void pre(float* X) {
  int rm[TM] = 0 ... TM;
  *(X + rm) = 1;
}
