// C = scale * A B, any layout, the inner dimension cut into SPLIT pieces that are added under a lock.

#define ROWS_TOGETHER 4

__global__ void product(TYPE *A __noalias __readonly __aligned(16),
                        TYPE *B __noalias __readonly __aligned(16),
                        TYPE *C __noalias __aligned(16),
                        float scale,
                        int M, int N, int K __multipleof(16),
                        int lda __multipleof(LDA_DIV),
                        int ldb __multipleof(LDB_DIV),
                        int ldc __multipleof(LDC_DIV),
                        int *locks) {
  // neighbours in time are neighbours in space: a few rows of tiles, column after column
  int tile = get_program_id(0);
  int down = (M + TM - 1) / TM;
  int across = (N + TN - 1) / TN;
  int above = tile / (ROWS_TOGETHER * across) * ROWS_TOGETHER;
  int together = min(down - above, ROWS_TOGETHER);
  int y = above + tile % together;
  int x = tile % (ROWS_TOGETHER * across) / together;

  // my piece of the inner dimension
  int piece = get_program_id(1);
  K = K / SPLIT;
  int im[TM] = y * TM + 0 ... TM;
  int in[TN] = x * TN + 0 ... TN;
  int ik[TK] = 0 ... TK;
  bool okm[TM] = im < M;
  bool okn[TN] = in < N;

  // first tiles
  TYPE *pa[TM, TK] = A + im[:, newaxis] * A_DOWN + (piece * K + ik)[newaxis, :] * A_ACROSS;
  TYPE *pb[TK, TN] = B + (piece * K + ik)[:, newaxis] * B_DOWN + in[newaxis, :] * B_ACROSS;
  TYPE a[TM, TK] = okm[:, newaxis] && (ik < K)[newaxis, :] ? *pa : 0;
  TYPE b[TK, TN] = okn[newaxis, :] && (ik < K)[:, newaxis] ? *pb : 0;
  pa += TK * A_ACROSS;
  pb += TK * B_DOWN;

  // multiply these while the next ones arrive
  float sum[TM, TN] = 0;
  for (int left = K; left > 0; left -= TK) {
    sum += a @ b;
    bool more[TK] = ik < left - TK;
    bool oka[TM, TK] = okm[:, newaxis] && more[newaxis, :];
    bool okb[TK, TN] = okn[newaxis, :] && more[:, newaxis];
    a = *?(oka)pa;
    b = *?(okb)pb;
    pa += TK * A_ACROSS;
    pb += TK * B_DOWN;
  }
  TYPE c[TM, TN] = sum * scale;
  TYPE *pc[TM, TN] = C + im[:, newaxis] * ldc + in[newaxis, :];
  bool okc[TM, TN] = okm[:, newaxis] && okn[newaxis, :];

#if SPLIT == 1
  *?(okc) pc = c;
#else
  int *lock = locks + tile;
  int *done = lock + get_num_programs(0);
  for (int taken = 1; taken == 1; taken = atomic_cas(lock, 0, 1));
  int before = *done;
  if (before == 0)
    *?(okc) pc = c;
  else
    *?(okc) pc = c + *?(okc) pc;
  atomic_xchg(done, (before + 1) % SPLIT);
  atomic_xchg(lock, 0);
#endif
}

// each column of A times a number of its own
__global__ void scale_columns(TYPE *A __noalias, TYPE *S __noalias __readonly, int M, int N, int lda) {
  int im[TM] = get_program_id(0) * TM + 0 ... TM;
  int in[TN] = get_program_id(1) * TN + 0 ... TN;
  bool ok[TM, TN] = (im < M)[:, newaxis] && (in < N)[newaxis, :];
  TYPE *pa[TM, TN] = A + im[:, newaxis] * lda + in[newaxis, :];
  TYPE s[TN] = in < N ? *(S + in) : 0;
  *?(ok) pa = *?(ok) pa * s[newaxis, :];
}
