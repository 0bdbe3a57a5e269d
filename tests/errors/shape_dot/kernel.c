__global__ void dot(half* A, half* B, float* C) {
  int rm[TM] = 0 ... TM;
  int rn[TN] = 0 ... TN;
  int rk[TK] = 0 ... TK;
  half a[TM, TK] = *(A + rm[:, newaxis] * TK + rk[newaxis, :]);
  half b[TN, TK] = *(B + rn[:, newaxis] * TK + rk[newaxis, :]);
  float c[TM, TN] = a @ b;
  *(C + rm[:, newaxis] * TN + rn[newaxis, :]) = c;
}
