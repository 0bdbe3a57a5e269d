import torch
import triton

class _dot(triton.function):

  # AK is how far apart elements of A lie along the inner dimension, and so on; the caller fills in the layouts
  src = """
void dot(TYPE * A __noalias __readonly __aligned(16), TYPE * B __noalias __readonly __aligned(16),
         TYPE * C __noalias __writeonly __aligned(16), float alpha, int M, int N, int K,
         int lda __multipleof(LDA_DIV), int ldb __multipleof(LDB_DIV), int ldc __multipleof(LDC_DIV)) {
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  int j[TN] = get_program_id(1) * TN + 0 ... TN;
  int k[TK] = 0 ... TK;
  TYPE * pa[SHAPE_A] = A + i[OF_ROWS_A] * AM + k[OF_INNER_A] * AK;
  TYPE * pb[SHAPE_B] = B + j[OF_COLUMNS_B] * BN + k[OF_INNER_B] * BK;
  bool row[SHAPE_A] = (i < M)[OF_ROWS_A];
  bool column[SHAPE_B] = (j < N)[OF_COLUMNS_B];
  // a first tile of each
  bool checka[SHAPE_A] = row && k[OF_INNER_A] < K;
  bool checkb[SHAPE_B] = column && k[OF_INNER_B] < K;
  TYPE a[SHAPE_A] = checka ? *pa : 0;
  TYPE b[SHAPE_B] = checkb ? *pb : 0;
  float x[TM, TN] = 0;
  for (int left = K; left > 0; left = left - TK) {
    x = USE_A @ USE_B + x;
    pa = pa + TK * AK;
    pb = pb + TK * BK;
    checka = row && k[OF_INNER_A] < left - TK;
    checkb = column && k[OF_INNER_B] < left - TK;
    a = checka ? *pa : 0;
    b = checkb ? *pb : 0;
  }
  TYPE * pc[TM, TN] = C + i[:, newaxis] * ldc + j[newaxis, :];
  bool checkc[TM, TN] = (i < M)[:, newaxis] && (j < N)[newaxis, :];
  *?(checkc) pc = alpha * x;
}
"""

  kernel = triton.kernel(src, ['C'])

  @staticmethod
  def product(a, b, ta, tb, alpha, bench = 0):
    M, K = reversed(a.shape) if ta else a.shape
    N = b.shape[0] if tb else b.shape[1]
    c = a.new_empty(M, N)
    lda, ldb, ldc = [x.stride(0) for x in (a, b, c)]
    div = lambda stride: min(stride & -stride, 8)
    down, across = ':, newaxis', 'newaxis, :'
    layout_a = {'AM': '1' if ta else 'lda', 'OF_ROWS_A': across if ta else down,
                'AK': 'lda' if ta else '1', 'OF_INNER_A': down if ta else across,
                'SHAPE_A': 'TK, TM' if ta else 'TM, TK', 'USE_A': '^a' if ta else 'a'}
    layout_b = {'BN': 'ldb' if tb else '1', 'OF_COLUMNS_B': down if tb else across,
                'BK': '1' if tb else 'ldb', 'OF_INNER_B': across if tb else down,
                'SHAPE_B': 'TN, TK' if tb else 'TK, TN', 'USE_B': '^b' if tb else 'b'}
    grid = lambda opt: [triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN'))]
    _dot.kernel(a, b, c, alpha, M, N, K, lda, ldb, ldc, grid, bench = bench,
                TYPE = a.dtype, TM = [32, 64], TN = [32, 64], TK = [16],
                LDA_DIV = div(lda), LDB_DIV = div(ldb), LDC_DIV = div(ldc), **layout_a, **layout_b)
    return c

  @staticmethod
  def forward(ctx, a, b, transpose_a = False, transpose_b = False, alpha = 1., bench = 0):
    ctx.save_for_backward(a, b)
    ctx.ta, ctx.tb, ctx.alpha = transpose_a, transpose_b, alpha
    ctx.flops = 2. * a.numel() * (b.shape[0] if transpose_b else b.shape[1])
    return _dot.product(a, b, transpose_a, transpose_b, alpha, bench)

  @staticmethod
  def backward(ctx, dc):
    a, b = ctx.saved_tensors
    ta, tb, alpha = ctx.ta, ctx.tb, ctx.alpha
    dc = dc.contiguous()
    da = _dot.product(b, dc, tb, True, alpha) if ta else _dot.product(dc, b, False, not tb, alpha)
    db = _dot.product(dc, a, True, ta, alpha) if tb else _dot.product(a, dc, not ta, False, alpha)
    return da, db

dot = _dot.apply

def time_dot(a, b):
  """TFLOPS of one product."""
  c = dot(a, b, bench = 10)
  ctx = triton.ctx_registry[c]
  return ctx.flops / triton.bench_registry[c] * 1e-3
