__global__ void scale(float* X, int N) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  bool check[TM] = rm < N;
  float* px[TM] = X + rm;
  *?(check)px = *?(check)px * 2;
}
