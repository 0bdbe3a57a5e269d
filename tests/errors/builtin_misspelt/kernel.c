__global__ void scale(float* X) {
  int pid = get_programm_id(0);
  *(X + pid) = sqr(*X);
}
