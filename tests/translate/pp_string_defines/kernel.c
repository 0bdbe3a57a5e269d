void f(float *A, float *B, float *C, int lda) {
  int rm[TM] = 0 ... TM;
  int rk[TK] = 0 ... TK;
  float *pa[SHAPE_A] = A + rm[BROADCAST_M] * STRIDE_M + rk[BROADCAST_K] * STRIDE_K;
  float a[SHAPE_A] = *pa;
  *(C + rm[:, newaxis] * TK + rk[newaxis, :]) = USE_A OP *(B + rm[:, newaxis] * TK + rk[newaxis, :]);
}
