#define LOAD(p, m) *?(m)(p)
#define SUM(a, ...) a + __VA_ARGS__
__global__ void pre(float* X, int n) {
  *X = LOAD(X);
  *X = LOAD(X, n, 1);
}
