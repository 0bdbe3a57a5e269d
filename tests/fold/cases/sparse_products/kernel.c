__global__ void NAME(TYPE *A __readonly __noalias __aligned(16),
                     TYPE *B __readonly __noalias __aligned(16),
                     TYPE *C __noalias __aligned(16),
                     int M, int N, int K __retune,
                     int stride_za, int stride_ha, int stride_ma, int stride_ka,
                     int stride_zb, int stride_hb, int stride_kb, int stride_nb,
                     int stride_zc, int stride_hc, int stride_mc,
                     int *LUT __readonly __noalias, int *LOCKS, int nlocks, int off_width) {
  int pid0 = get_program_id(0);
  int pid1 = get_program_id(1) + off_width;
  int pidz = get_program_id(2);
  int ri[TM] = 0 ... TM;
  int rj[TN] = 0 ... TN;
  int rk[TK] = 0 ... TK;
  float acc[TM, TN] = 0;
#ifdef SDD
  // one block of the result, and one share of the inner dimension
  int *header = LUT + pid1 * 3;
  int head = *header;
  int rm[TM] = *(header + 1) * BLOCK + ri;
  int rn[TN] = *(header + 2) * BLOCK + rj;
  int share = (K + TK * TZ - 1) / (TK * TZ) * TK;
  int first = pid0 * share;
  int left = min(K - first, share);
  TYPE *pa[TM, TK] = A + pidz * stride_za + head * stride_ha + rm[:, newaxis] * stride_ma
                       + (first + rk)[newaxis, :] * stride_ka;
  TYPE *pb[TK, TN] = B + pidz * stride_zb + head * stride_hb + rn[newaxis, :] * stride_nb
                       + (first + rk)[:, newaxis] * stride_kb;
  bool checkam[TM, TK] = (rm < M)[:, newaxis];
  bool checkbn[TK, TN] = (rn < N)[newaxis, :];
  bool checka[TM, TK] = checkam && (rk < left)[newaxis, :];
  bool checkb[TK, TN] = checkbn && (rk < left)[:, newaxis];
  TYPE a[TM, TK] = checka ? *pa : 0;
  TYPE b[TK, TN] = checkb ? *pb : 0;
  for (int k = left; k > 0; k -= TK) {
    acc += a @ b;
    pa += TK * stride_ka;
    pb += TK * stride_kb;
    bool checka[TM, TK] = checkam && (rk < k - TK)[newaxis, :];
    bool checkb[TK, TN] = checkbn && (rk < k - TK)[:, newaxis];
    a = checka ? *pa : 0;
    b = checkb ? *pb : 0;
  }
  TYPE *pc[TM, TN] = C + pidz * stride_zc + pid1 * BLOCK * BLOCK + ri[:, newaxis] * BLOCK + rj[newaxis, :];
  bool checkc[TM, TN] = 1;
#else
  // one row or column of blocks: how many, where they are listed, which it is, in which head
  int *header = LUT + pid1 * 4;
  int size = *header;
  int *pidx = LUT + *(header + 1);
  int index = *(header + 2);
  int head = *(header + 3);
#ifdef DSD
  int rm[TM] = index * BLOCK + ri;
  int rn[TN] = pid0 * TN + rj;
#endif
#ifdef DDS
  int rm[TM] = pid0 * TM + ri;
  int rn[TN] = index * BLOCK + rj;
#endif
  bool checkm[TM] = rm < M;
  bool checkn[TN] = rn < N;
  for (int k = size; k > 0; k -= 1) {
    int block = *pidx;
    int rko[TK] = *(pidx + 1) * BLOCK + rk;
#ifdef DSD
    TYPE *pa[TM, TK] = A + pidz * stride_za + block * BLOCK * BLOCK
                         + ri[:, newaxis] * STRIDE_OUTER + rk[newaxis, :] * STRIDE_INNER;
    TYPE *pb[TK, TN] = B + pidz * stride_zb + head * stride_hb
                         + rko[:, newaxis] * stride_kb + rn[newaxis, :] * stride_nb;
    TYPE a[TM, TK] = *pa;
    TYPE b[TK, TN] = checkn[newaxis, :] ? *pb : 0;
#endif
#ifdef DDS
    TYPE *pa[TM, TK] = A + pidz * stride_za + head * stride_ha
                         + rm[:, newaxis] * stride_ma + rko[newaxis, :] * stride_ka;
    TYPE *pb[TK, TN] = B + pidz * stride_zb + block * BLOCK * BLOCK
                         + rk[:, newaxis] * STRIDE_OUTER + rj[newaxis, :] * STRIDE_INNER;
    TYPE a[TM, TK] = checkm[:, newaxis] ? *pa : 0;
    TYPE b[TK, TN] = *pb;
#endif
    acc += a @ b;
    pidx += 2;
  }
  TYPE *pc[TM, TN] = C + pidz * stride_zc + head * stride_hc + rm[:, newaxis] * stride_mc + rn[newaxis, :];
  bool checkc[TM, TN] = checkm[:, newaxis] && checkn[newaxis, :];
#endif
  TYPE c[TM, TN] = acc;
#if (TZ == 1)
  *?(checkc) pc = c;
#else
  // the shares of a block are added one after another
  int *plock = LOCKS + pid1 - off_width + get_program_id(2) * get_num_programs(1);
  int *pcount = plock + nlocks;
  for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
  int count = *pcount;
  if (count == 0)
    *?(checkc) pc = c;
  else
    *?(checkc) pc = c + *?(checkc) pc;
  atomic_xchg(pcount, (count + 1) % TZ);
  atomic_xchg(plock, 0);
#endif
}
