char __constant__* AD = calloc(256);
char __constant__* BD = calloc(256);

__global__ void contract(TYPE * A __noalias __readonly __aligned(4),
                       TYPE * B __noalias __readonly __aligned(4),
                       TYPE * C __noalias __aligned(4),
                       int M, int N, int K, int dim_b, int dim_m, int dim_n, int stride_a_b, int stride_a_m, int stride_b_b, int stride_b_n, int stride_c_b, int stride_c_m, int stride_c_n) {
  // program ids: 0x4 rows of tiles stay together
  int pid = get_program_id(0);
  int grid_m = (M + TM - 1) / TM;
  int grid_n = (N + TN - 1) / TN;
  int group = pid / (WIDTH * grid_n);
  int size = min(grid_m - group * WIDTH, WIDTH);
  int pid_m = group * WIDTH + pid % size;
  int pid_n = (pid % (WIDTH * grid_n)) / size;
  int pid_b = get_program_id(1);
  // coordinates
  int rm[TM] = pid_m * TM + 0 ... TM;
  int rn[TN] = pid_n * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  int m_m[TM] = rm % dim_m;
  int n_n[TN] = rn % dim_n;
  int b_b = pid_b % dim_b;

  int offa[TM] = m_m * stride_a_m;
  int offb[TN] = n_n * stride_b_n;
  TYPE *pa0 = A + b_b * stride_a_b;
  TYPE *pb0 = B + b_b * stride_b_b;
  // tables
  int __constant__* pad[TK] = (int __constant__*)AD + rk;
  int __constant__* pbd[TK] = (int __constant__*)BD + rk;
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    bool checkk[TK] = rk < k;
    int ad[TK] = checkk ? *pad : 0;
    int bd[TK] = checkk ? *pbd : 0;
    bool checka[TM, TK] = (rm < M)[:, newaxis] && checkk[newaxis, :];
    bool checkb[TK, TN] = checkk[:, newaxis] && (rn < N)[newaxis, :];
    TYPE *pa[TM, TK] = pa0 + offa[:, newaxis] + ad[newaxis, :];
    TYPE *pb[TK, TN] = pb0 + bd[:, newaxis] + offb[newaxis, :];
    TYPE a[TM, TK] = checka ? *pa : 0;
    TYPE b[TK, TN] = checkb ? *pb : 0;
    acc += a @ b;
    pad += TK;
    pbd += TK;
  }
  // epilogue
  int offm[TM] = m_m * stride_c_m;
  int offn[TN] = n_n * stride_c_n;
  TYPE *pc[TM, TN] = C + b_b * stride_c_b + offm[:, newaxis] + offn[newaxis, :];
  TYPE c[TM, TN] = acc;
  bool checkc[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
  *?(checkc) pc = c;
}
