__global__ void scale(float* X, int N) {
  int pid = get_program_id(0));
  *(X + pid) = N;
}
