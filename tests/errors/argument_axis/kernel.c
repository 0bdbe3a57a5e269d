__global__ void calls(float* X, int n) {
  int i = get_program_id(3);
  int j = get_program_id(n);
  *X = i + j;
}
