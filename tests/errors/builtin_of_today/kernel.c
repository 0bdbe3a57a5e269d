__global__ void today(float* X) {
  int r[16] = arange(0, 16);
  float x[16] = load(X + r);
  *X = sum(where(x > 0, x, 0));
  printf("done");
}
