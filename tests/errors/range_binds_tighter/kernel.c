__global__ void fill(float* X) {
  int r[TM] = get_program_id(0) * TM ... TM;
  *(X + r) = 0;
}
