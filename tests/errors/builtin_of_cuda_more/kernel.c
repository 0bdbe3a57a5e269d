__global__ void add(float* X, float* Y, int* locks) {
  float x = fmaxf(__ldg(X), 0.f);
  atomicCAS(locks, 0, 1);
  assert(x > 0);
  *Y = static_cast(x);
  atomicMax(Y, x);
}
