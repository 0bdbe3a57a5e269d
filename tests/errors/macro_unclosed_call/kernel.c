#define LOAD(p) *(p)
__global__ void pre(float* X) {
  *X = LOAD((X + 1);
}
