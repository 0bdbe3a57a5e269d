__global__ void add(float *X, float *Y, int n) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = 0 ... TN;
  bool check[TM, TN] = (rm < n)[:, newaxis];
  float *px[TM, TN] = X + rm[:, newaxis] * TN + rn[newaxis, :];
  float *py[TM, TN] = Y + rm[:, newaxis] * TN + rn[newaxis, :];
  float x[TM, TN] = *?(check)px;
  float sum[TM] = x[:, +];
  float zeros[TM * TN] = 0;
  *?(check)py = x + unknown;
}
