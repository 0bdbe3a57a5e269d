typedef float T;
__global__ void before(T *X) {
  *X = undeclared + 1 / 0;
  calls(X);
}
__global__ void f(T *X) {
  *X = 3;
}
__global__ void after(T *X, int X) {
  typedef int T;
  typedef float T;
  float x[0] = 1 << 99;
}
