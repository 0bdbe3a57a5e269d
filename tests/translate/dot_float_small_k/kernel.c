void dot(float *A, float *B, float *C __noalias, int K) {
  int rm[TM] = 0 ... TM;
  int rn[TN] = 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  for (int k = 0; k < K; k += TK) {
    float a[TM, TK] = *(A + rm[:, newaxis] * K + rk[newaxis, :] + k);
    float b[TN, TK] = *(B + rn[:, newaxis] * K + rk[newaxis, :] + k);
    c = c + a @ ^b;
  }
  *(C + rm[:, newaxis] * TN + rn[newaxis, :]) = c;
}
