__global__ void calls(float* X, int* L, float y) {
  atomic_add(X);
  atomic_cas(L, 0);
  atomic_xchg(y, 1);
  atomic_cas(X, 0, 1);
}
