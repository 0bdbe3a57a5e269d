__global__ void outer(float* X, int ld) {
  int rm[TM] = 0 ... TM;
  int rn[TN] = 0 ... TN;
  float* px[TM, TN] = X + rm * ld + rn[newaxis, :];
  *px = 0;
}
