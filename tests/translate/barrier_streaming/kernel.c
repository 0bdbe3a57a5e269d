void f(float *X __noalias, float *Y __noalias, float *W __noalias, int M, int L) {
  int c = get_program_id(0);
  int C = get_num_programs(0);
  // rows of L, those of one c every C of them
  int rm[TM] = 0 ... TM;
  for (int m = 0; m < M; m += TM) {
    long off[TM] = (long)(rm / L) * C * L + c * L + rm % L;
    float x[TM] = *?(rm < M)(X + off);
    *?(rm < M)(Y + off) = 2 * x;
    rm += TM;
  }
  // half of each turn's elements are the next turn's too
  for (int m = 0; m < M; m += TM / 2) {
    int i[TM] = m + 0 ... TM;
    *?(i < M)(W + c * M + i) = m;
  }
}
