__global__ void fill(float* X, int n) {
  bool is = True;
  if (X == NULL)
    return;
  *X = is ? -inf : FLT_MAX;
}
