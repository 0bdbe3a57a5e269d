__global__ void scale(float* X) {
  int pid = tl.program_id(0);
  *(X + pid) = 0;
}
