__global__ void pre(float* X) {
  atomic_add_TYPE_TM(X, 1);
  atomik_add_##TYPE(X, 1);
}
