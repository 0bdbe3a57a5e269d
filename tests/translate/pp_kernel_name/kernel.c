__global__ void NAME(float *X, float *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = -*(X + r);
}
