__global__ void add(float* X, float* Y) {
  int r[T] = 0 ... T;
  bool m[T] = r < 8;
  float bare[T] = *?(m) X + r;
  float meant[T] = (*?(m) X) + r;
  *(Y + r) = bare + meant;
}
