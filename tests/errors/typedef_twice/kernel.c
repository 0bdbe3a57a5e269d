typedef int T;
typedef int T;
typedef float T;
typedef float* P;
typedef float P[16];
__global__ void f(float* X) {
  typedef half T;
  typedef T* T;
  *X = 1;
}
