// C = A B in four layouts, for each a text: what is read along which axis is said by the caller
__global__ void NAME(TYPE *A __noalias __readonly __aligned(16),
                     TYPE *B __noalias __readonly __aligned(16),
                     TYPE *C __noalias __aligned(16),
                     float alpha,
                     int M, int N, int K __multipleof(16),
                     int lda __multipleof(8), int ldb __multipleof(8), int ldc __multipleof(8),
                     int *locks) {
  // prologue
  int pid = get_program_id(0);
  int pidz = get_program_id(2);
  int gridm = (M + TM - 1) / TM;
  int gridn = (N + TN - 1) / TN;
  int width = 8 * gridn;
  int group = pid / width;
  int group_size = min(gridm - group * 8, 8);
  int pidm = group * 8 + (pid % group_size);
  int pidn = (pid % width) / group_size;
  int rm[TM] = pidm * TM + 0 ... TM;
  int rn[TN] = pidn * TN + 0 ... TN;
  // reduction splitting
#if (TZ > 1)
  K = K / TZ;
#endif
  int rk[TK] = pidz * K + 0 ... TK;
  // pointers to operands
  TYPE *pa[SHAPE_A] = A + rk[BROADCAST_AK] * STRIDE_AK + rm[BROADCAST_AM] * STRIDE_AM;
  TYPE *pb[SHAPE_B] = B + rk[BROADCAST_BK] * STRIDE_BK + rn[BROADCAST_BN] * STRIDE_BN;
  // prefetches operands
  bool checka[SHAPE_A] = (rk < K)[BROADCAST_AK] && (rm < M)[BROADCAST_AM];
  bool checkb[SHAPE_B] = (rk < K)[BROADCAST_BK] && (rn < N)[BROADCAST_BN];
#ifdef MASKED
  TYPE a[SHAPE_A] = checka ? *pa : 0;
  TYPE b[SHAPE_B] = checkb ? *pb : 0;
#else
  TYPE a[SHAPE_A] = *pa;
  TYPE b[SHAPE_B] = *pb;
#endif
  // reduction loop
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    acc += USE_A @ USE_B;
    pa = pa + TK * STRIDE_AK;
    pb = pb + TK * STRIDE_BK;
#ifdef MASKED
    bool checka[SHAPE_A] = k > TK;
    bool checkb[SHAPE_B] = k > TK;
    a = *?(checka)pa;
    b = *?(checkb)pb;
#else
    a = *pa;
    b = *pb;
#endif
  }
  acc = acc * alpha;
#ifdef RELU
  acc = acc > 0 ? acc : 0;
#elif defined(GELU)
  // the sigmoid form
  acc = acc / (1 + exp(-1.702f * acc));
#endif
  TYPE c[TM, TN] = acc;
  // epilogue
  int rcm[TM] = pidm * TM + 0 ... TM;
  int rcn[TN] = pidn * TN + 0 ... TN;
  TYPE *pc[TM, TN] = C + rcm[:, newaxis] * ldc + rcn[newaxis, :];
  bool checkc[TM, TN] = (rcm < M)[:, newaxis] && (rcn < N)[newaxis, :];
#if (TZ == 1)
  *?(checkc) pc = c;
#else
  // accumulate partial result using spin-locks
  int *plock = locks + pid;
  int *pcount = plock + get_num_programs(0);
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *?(checkc) pc = c;
  else
    *?(checkc) pc = c + *?(checkc)pc;
  atomic_xchg(pcount, (count + 1) % TZ);
  atomic_xchg(plock, 0);
#endif
}
