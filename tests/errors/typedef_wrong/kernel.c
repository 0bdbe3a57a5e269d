typedef float tile[16];
__global__ void types(tile* X, tile Y) {
  tile x[4] = 1;
  *X = 1;
}
