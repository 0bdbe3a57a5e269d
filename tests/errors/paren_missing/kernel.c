__global__ void scale(float* X, int N) {
  int rm[16] = get_program_id(0) * 16 + 0 ... 16;
  bool check[16] = (rm < N;
  *?(check)(X + rm) = 0;
}
