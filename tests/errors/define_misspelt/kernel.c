__global__ void copy(float* X, float* Y) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM2;
  *(Y + rm) = *(X + rm);
}
