__global__ void scale(TYPE* X, TYPE* Y, int N) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(rm < N)(Y + rm) = *?(rm < N)(X + rm);
}
