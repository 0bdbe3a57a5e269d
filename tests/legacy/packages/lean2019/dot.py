import torch
import triton

class _dot(triton.function):

  src = """
void dot(TYPE * A __noalias __readonly __aligned(16),
         TYPE * B __noalias __readonly __aligned(16),
         TYPE * C __noalias __writeonly __aligned(16),
         float alpha,
         int M, int N, int K,
         int lda __multipleof(LDA_DIV), int ldb __multipleof(LDB_DIV), int ldc __multipleof(LDC_DIV)) {
  // which tile is mine
  int ridx = get_program_id(0);
  int ridy = get_program_id(1);
  int rxa[TM] = ridx * TM + 0 ... TM;
  int ryb[TN] = ridy * TN + 0 ... TN;
  int rka[TK] = 0 ... TK;
  int rkb[TK] = 0 ... TK;
  float xc[TM, TN] = 0;
  // pointers to operands
  TYPE* pa[SHAPE_A] = A + rka[BROADCAST_AK] * STRIDE_AK + rxa[BROADCAST_AM] * STRIDE_AM;
  TYPE* pb[SHAPE_B] = B + rkb[BROADCAST_BK] * STRIDE_BK + ryb[BROADCAST_BN] * STRIDE_BN;
  // rows and columns that exist
  bool rowa[SHAPE_A] = (rxa < M)[BROADCAST_AM];
  bool colb[SHAPE_B] = (ryb < N)[BROADCAST_BN];
  bool checka[SHAPE_A] = rowa && rka[BROADCAST_AK] < K;
  bool checkb[SHAPE_B] = colb && rkb[BROADCAST_BK] < K;
  // prefetch
  TYPE a[SHAPE_A] = checka ? *pa : 0;
  TYPE b[SHAPE_B] = checkb ? *pb : 0;
  for (int k = K; k > 0; k = k - TK) {
    xc = USE_A @ USE_B + xc;
    pa = pa + TK * STRIDE_AK;
    pb = pb + TK * STRIDE_BK;
    checka = rowa && rka[BROADCAST_AK] < k - TK;
    checkb = colb && rkb[BROADCAST_BK] < k - TK;
    a = checka ? *pa : 0;
    b = checkb ? *pb : 0;
  }
  // epilogue
  int rxc[TM] = ridx * TM + 0 ... TM;
  int ryc[TN] = ridy * TN + 0 ... TN;
  TYPE * pc[TM, TN] = C + ryc[newaxis, :] + rxc[:, newaxis] * ldc;
  bool checkc0[TM] = rxc < M;
  bool checkc1[TN] = ryc < N;
  bool checkc[TM, TN] = checkc0[:, newaxis] && checkc1[newaxis, :];
  TYPE c[TM, TN] = xc * alpha;
  *?(checkc) pc = c;
}
"""

  kernel = triton.kernel(src, ['C'])

  @staticmethod
  def _divisor(stride):
    return 8 if stride % 8 == 0 else 4 if stride % 4 == 0 else 1

  @staticmethod
  def _call(a, b, transpose_a, transpose_b, alpha, bench):
    # shapes
    shape_a = a.shape
    shape_b = b.shape
    M = shape_a[1] if transpose_a else shape_a[0]
    Ka = shape_a[0] if transpose_a else shape_a[1]
    Kb = shape_b[1] if transpose_b else shape_b[0]
    N = shape_b[0] if transpose_b else shape_b[1]
    assert Ka == Kb
    # leading dimensions
    lda = shape_a[1]
    ldb = shape_b[1]
    ldc = N
    c = torch.empty([M, N], dtype=a.dtype, device=a.device)
    grid = lambda opt: [triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN'))]
    # macros: the layout of each operand
    macros = {# A
              'STRIDE_AK': 'lda' if transpose_a else '1',
              'STRIDE_AM': '1' if transpose_a else 'lda',
              'BROADCAST_AK': ':, newaxis' if transpose_a else 'newaxis, :',
              'BROADCAST_AM': 'newaxis, :' if transpose_a else ':, newaxis',
              'SHAPE_A': 'TK, TM' if transpose_a else 'TM, TK',
              'USE_A': '^a' if transpose_a else 'a',
              # B
              'STRIDE_BK': '1' if transpose_b else 'ldb',
              'STRIDE_BN': 'ldb' if transpose_b else '1',
              'BROADCAST_BK': 'newaxis, :' if transpose_b else ':, newaxis',
              'BROADCAST_BN': ':, newaxis' if transpose_b else 'newaxis, :',
              'SHAPE_B': 'TN, TK' if transpose_b else 'TK, TN',
              'USE_B': '^b' if transpose_b else 'b',
              # alignment
              'LDA_DIV': _dot._divisor(lda),
              'LDB_DIV': _dot._divisor(ldb),
              'LDC_DIV': _dot._divisor(ldc)}
    _dot.kernel(a, b, c, alpha, M, N, Ka, lda, ldb, ldc,
                grid, bench=bench,
                AT=transpose_a, BT=transpose_b, TYPE=a.dtype,
                TM=[32, 64], TN=[32, 64], TK=[16], **macros)
    return c

  @staticmethod
  def forward(ctx, a, b, transpose_a = False, transpose_b = False, alpha = 1., bench = 0):
    ctx.save_for_backward(a, b)
    ctx.t_a = transpose_a
    ctx.t_b = transpose_b
    ctx.alpha = alpha
    ctx.flops = 2. * a.numel() * (b.shape[0] if transpose_b else b.shape[1])
    return _dot._call(a, b, transpose_a, transpose_b, alpha, bench)

  @staticmethod
  def backward(ctx, dy):
    a, b = ctx.saved_tensors
    t_a, t_b, alpha = ctx.t_a, ctx.t_b, ctx.alpha
    dy = dy.contiguous()
    if not t_a and not t_b:
      da = _dot._call(dy, b, False, True, alpha, 0)
      db = _dot._call(a, dy, True, False, alpha, 0)
    elif not t_a and t_b:
      da = _dot._call(dy, b, False, False, alpha, 0)
      db = _dot._call(dy, a, True, False, alpha, 0)
    elif t_a and not t_b:
      da = _dot._call(b, dy, False, True, alpha, 0)
      db = _dot._call(a, dy, False, False, alpha, 0)
    else:
      da = _dot._call(b, dy, True, True, alpha, 0)
      db = _dot._call(dy, a, True, True, alpha, 0)
    return da, db

dot = _dot.apply

def time_dot(a, b):
  """TFLOPS of one product."""
  c = dot(a, b, bench = 10)
  ctx = triton.ctx_registry[c]
  return ctx.flops / triton.bench_registry[c] * 1e-3
