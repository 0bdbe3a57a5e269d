__global__ void dot(TYPE *A __noalias __readonly __aligned(16),
                    TYPE *B __noalias __readonly __aligned(16),
                    TYPE *C __noalias,
                    int M, int N, int K,
                    int lda __multipleof(8),
                    int ldb __multipleof(8),
                    int ldc __multipleof(8)) {
  // prologue
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  // pointers to operands
  TYPE *pa[TM, TK] = A + rk[newaxis, :] + rm[:, newaxis] * lda;
  TYPE *pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  TYPE a[TM, TK] = *pa;
  TYPE b[TK, TN] = *pb;
  // reduction loop
  for (int k = K; k > 0; k -= TK) {
    c += a @ b;
    pa += TK;
    pb += TK * ldb;
    a = *pa;
    b = *pb;
  }
  // epilogue
  TYPE *pc[TM, TN] = C + rn[newaxis, :] + rm[:, newaxis] * ldc;
  *pc = c;
}
