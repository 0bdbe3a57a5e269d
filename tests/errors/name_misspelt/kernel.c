__global__ void scale(float* X, int stride) {
  int offset = get_program_id(0) * strid;
  *(X + offset) = 0;
}
