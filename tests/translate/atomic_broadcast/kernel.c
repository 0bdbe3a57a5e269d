// values, masks and what is compared are spread over the block of pointers
__global__ void spread(int* X, int* Y, int* Z) {
  int r[4] = 0 ... 4;
  bool first[1] = *X >= 0;
  int v[1] = *X;
  atomic_add(X + r, v, first);
  *(Z + r) = atomic_xchg(Y + r, v);
  atomic_cas(Z + r, (int[1])0, v);
}
