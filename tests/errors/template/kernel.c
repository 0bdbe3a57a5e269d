template <typename T>
__global__ void fill(T* X) {
  *X = 1;
}
