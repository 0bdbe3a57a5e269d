__global__ void today(float* X, int n) {
  int ra[16] = 0 ... 16;
  int rb[8] = 0 ... 8;
  *?(ra < n && rb < n)(X + ra) = 1;
  *?(ra < n)(X + ra) = (ra < n) ? *(X + rb) : 0;
}
