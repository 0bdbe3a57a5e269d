#define JOIN(a, b) a ## b
__global__ void pre(float* X) {
  *X = JOIN(+, /) 1;
}
