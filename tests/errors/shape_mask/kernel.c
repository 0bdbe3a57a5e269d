__global__ void store(float* X, int N) {
  int rm[TM] = 0 ... TM;
  int rn[TN] = 0 ... TN;
  float x[TM] = *?(rn < N)(X + rm);
  *(X + rm) = x;
}
