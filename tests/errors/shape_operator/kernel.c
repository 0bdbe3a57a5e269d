__global__ void outer(float* X) {
  int rm[TM] = 0 ... TM;
  int rn[TN] = 0 ... TN;
  float* px[TM, TN] = X + rm + rn;
  *px = 0;
}
