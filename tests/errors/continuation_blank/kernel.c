#define SUM(a, b) \ 
  ((a) + (b))
__global__ void pre(float* X) {
  *X = SUM(1, 2);
}
