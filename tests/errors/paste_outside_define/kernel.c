__global__ void sum(float* X) {
  atomic_add_##TYPE(X, 1.0f);
}
