__global__ void dot(float* C, int M) {
  int pm = get_program_id(0);
  int rm[TM] = pm * TM + 0 ... TN;
  *(C + rm) = 0;
}
