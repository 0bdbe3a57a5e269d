__global__ void outer(float* X) {
  int rm[TM] = 0 ... TM;
  int rn[TN] = 0 ... TN;
  *(X + rm[:, newaxis] * TN + rn[newaxis, :]) = 0;
}
