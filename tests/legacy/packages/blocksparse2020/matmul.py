import torch
import triton
from .lut import sdd_tables, dxx_table

# One text for three products, of which the caller picks one by a macro:
#
#   SDD   sparse = dense x dense
#   DSD   dense = sparse x dense
#   DDS   dense = dense x sparse
#
# How the operands lie in memory is filled in by the caller as well. For A, whose rows are those of C:
#
#   SHAPE_A             of a tile, the contiguous dimension last: 'TM, TK' or 'TK, TM'
#   ALONG_AM, ALONG_AK  how a row index and an inner index are spread over it
#   STRIDE_AM           how far apart rows lie: lda, BLOCK (A is sparse) or 1
#   STRIDE_AK           the same of the inner dimension
#   USE_A               the tile as [TM, TK]: 'a' or '^a'

src = '''
__global__ void NAME(TYPE *A __readonly __noalias __aligned(16),
                     TYPE *B __readonly __noalias __aligned(16),
                     TYPE *C __noalias __aligned(16),
                     float alpha,
                     int M, int N, int K __retune,
                     int lda __multipleof(8), int ldb __multipleof(8), int ldc __multipleof(8),
                     long stride_za __multipleof(8), long stride_zb __multipleof(8), long stride_zc __multipleof(8),
                     long stride_ha __multipleof(8), long stride_hb __multipleof(8), long stride_hc __multipleof(8),
                     int *LUT __readonly __noalias, int first_entry,
                     int *LOCKS, int num_locks) {
  /* ---------------------------------------------- */
  /*   which part of the product this program has   */
  /* ---------------------------------------------- */
  int batch = get_program_id(2);
  int im[TM] = 0 ... TM;
  int in[TN] = 0 ... TN;
  int ik[TK] = 0 ... TK;
#ifdef SDD
  // a square of blocks of C
  int *header = LUT + (get_program_id(0) + first_entry) * (3 + PACK * PACK);
  int head = *header;
  int rm[TM] = *(header + 1) * BLOCK + im;
  int rn[TN] = *(header + 2) * BLOCK + in;
  // and of the inner dimension one of TZ shares, the last of which may be shorter
  int share = (K + TZ * TK - 1) / (TZ * TK) * TK;
  int begin = get_program_id(1) * share;
  int left = min(K - begin, share);
  int am[TM] = rm;
  int bn[TN] = rn;
  int ka[TK] = begin + ik;
  int kb[TK] = begin + ik;
#else
  // a piece of a row or column of blocks of the sparse matrix
  int *header = LUT + (get_program_id(1) + first_entry) * 6;
  int *list = LUT + *header;
  int left = *(header + 1) * TK;
  int line = *(header + 2) * BLOCK;
  int head = *(header + 3);
  int lock = *(header + 4);
  int pieces = *(header + 5);
  int dense __multipleof(TK) = *list;
  int sparse __multipleof(TK) = *(list + 1);
#ifdef DSD
  int rm[TM] = line + im;
  int rn[TN] = get_program_id(0) * TN + in;
  int am[TM] = im;
  int bn[TN] = rn;
  int ka[TK] = ik;
  int kb[TK] = dense + ik;
#endif
#ifdef DDS
  int rm[TM] = get_program_id(0) * TM + im;
  int rn[TN] = line + in;
  int am[TM] = rm;
  int bn[TN] = in;
  int ka[TK] = dense + ik;
  int kb[TK] = ik;
#endif
#endif

  /* ---------------------------------------------- */
  /*   pointers to the first tiles                  */
  /* ---------------------------------------------- */
  TYPE *pa[SHAPE_A] = A + batch * stride_za + head * stride_ha
                    + am[ALONG_AM] * STRIDE_AM + ka[ALONG_AK] * STRIDE_AK;
  TYPE *pb[SHAPE_B] = B + batch * stride_zb + head * stride_hb
                    + bn[ALONG_BN] * STRIDE_BN + kb[ALONG_BK] * STRIDE_BK;
#ifdef DSD
  pa += sparse;
#endif
#ifdef DDS
  pb += sparse;
#endif

  // where sizes are no multiples of the tiles
#ifdef EVEN
#define LOAD_A *pa
#define LOAD_B *pb
#elif defined(SDD)
  bool checka[SHAPE_A] = (ik < left)[ALONG_AK];
  bool checkb[SHAPE_B] = (ik < left)[ALONG_BK];
#define LOAD_A checka ? *pa : 0
#define LOAD_B checkb ? *pb : 0
#elif defined(DSD)
  bool checkb[SHAPE_B] = (rn < N)[ALONG_BN];
#define LOAD_A *pa
#define LOAD_B checkb ? *pb : 0
#else
  bool checka[SHAPE_A] = (rm < M)[ALONG_AM];
#define LOAD_A checka ? *pa : 0
#define LOAD_B *pb
#endif

  /* ---------------------------------------------- */
  /*   inner loop                                   */
  /* ---------------------------------------------- */
  TYPE a[SHAPE_A] = LOAD_A;
  TYPE b[SHAPE_B] = LOAD_B;
  float acc[TM, TN] = 0;
  for (int k = left; k > 0; k -= TK) {
    acc += USE_A @ USE_B;
#ifdef SDD
    pa += TK * STRIDE_AK;
    pb += TK * STRIDE_BK;
#ifndef EVEN
    checka = (ik < k - TK)[ALONG_AK];
    checkb = (ik < k - TK)[ALONG_BK];
#endif
#else
    // the list says how far it is to the next step
    list += 2;
    int move_dense __multipleof(TK) = *list;
    int move_sparse __multipleof(TK) = *(list + 1);
#ifdef DSD
    pa += move_sparse;
    pb += move_dense * STRIDE_BK;
#endif
#ifdef DDS
    pa += move_dense * STRIDE_AK;
    pb += move_sparse;
#endif
#endif
    a = LOAD_A;
    b = LOAD_B;
  }

  /* ---------------------------------------------- */
  /*   write-back                                   */
  /* ---------------------------------------------- */
  TYPE c[TM, TN] = alpha * acc;
#ifdef SDD
  // the blocks of a square may lie anywhere in C
  int *pnumber[TM, TN] = header + 3 + (im / BLOCK)[:, newaxis] * PACK + (in / BLOCK)[newaxis, :];
  int number[TM, TN] = *pnumber;
  TYPE *pc[TM, TN] = C + batch * stride_zc + number * (BLOCK * BLOCK)
                   + (im % BLOCK)[:, newaxis] * BLOCK + (in % BLOCK)[newaxis, :];
  bool checkc[TM, TN] = 1;
#else
  TYPE *pc[TM, TN] = C + batch * stride_zc + head * stride_hc
                   + rm[:, newaxis] * STRIDE_CM + rn[newaxis, :] * STRIDE_CN;
  bool checkc[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
#endif
#if defined(SDD) && TZ == 1
  *?(checkc) pc = c;
#else
#ifdef SDD
  int lock = 0;
  int pieces = TZ;
#endif
  if (pieces == 1) {
    *?(checkc) pc = c;
  }
  else {
    // one after another, and whoever is the first does not add to what was there
    int *plock = LOCKS + (batch * get_num_programs(0) + get_program_id(0)) * num_locks + lock;
    int *pdone = plock + get_num_programs(2) * get_num_programs(0) * num_locks;
    for (int taken = 1; taken == 1; taken = atomic_cas(plock, 0, 1));
    int done = *pdone;
    if (done == 0)
      *?(checkc) pc = c;
    else
      *?(checkc) pc = c + *?(checkc) pc;
    atomic_xchg(pdone, (done + 1) % pieces);
    atomic_xchg(plock, 0);
  }
#endif
}
'''


class _sparse_matmul(torch.autograd.Function):

    sdd_cache = dict()
    dsd_cache = dict()
    dds_cache = dict()
    locks = dict()

    # the second dimension of a grid ends here
    max_pieces = 65535
    # shares of the inner dimension to try
    splits = [1, 2]

    ##########################################################################
    # what the three products have in common
    ##########################################################################

    @staticmethod
    def get_locks(size, device):
        """locks are zero, and are zero again when a kernel is done"""
        if device not in _sparse_matmul.locks or size > _sparse_matmul.locks[device].numel():
            _sparse_matmul.locks[device] = torch.zeros(size, dtype=torch.int32, device=device)
        return _sparse_matmul.locks[device]

    @staticmethod
    def step(dtype, block):
        """elements of the inner dimension that are multiplied at once"""
        return min(block, {torch.float16: 16, torch.float32: 8}[dtype])

    @staticmethod
    def describe(name, outer, inner, trans, ld):
        """the defines for an operand that is stored as it is named, [M, K] or [K, N], or the other way (trans)"""
        T = {'M': 'TM', 'N': 'TN', 'K': 'TK'}
        inner_first = (name == 'B') != trans
        x = name.lower()
        ret = dict()
        if inner_first:
            ret['SHAPE_' + name] = T[inner] + ', ' + T[outer]
            ret['ALONG_' + name + outer] = 'newaxis, :'
            ret['ALONG_' + name + inner] = ':, newaxis'
            ret['STRIDE_' + name + outer] = '1'
            ret['STRIDE_' + name + inner] = ld
        else:
            ret['SHAPE_' + name] = T[outer] + ', ' + T[inner]
            ret['ALONG_' + name + outer] = ':, newaxis'
            ret['ALONG_' + name + inner] = 'newaxis, :'
            ret['STRIDE_' + name + outer] = ld
            ret['STRIDE_' + name + inner] = '1'
        ret['USE_' + name] = '^' + x if trans else x
        return ret

    @staticmethod
    def sizes(x, trans):
        return (x.size(3), x.size(2)) if trans else (x.size(2), x.size(3))

    ##########################################################################
    # sparse = dense x dense
    ##########################################################################

    @staticmethod
    def _sdd(a, b, trans_a, trans_b, trans_c, alpha, block, luts):
        if trans_c:
            a, b = b, a
            trans_a, trans_b = not trans_b, not trans_a
        # leading dimensions are those of contiguous rows
        a, b = [x if x.stride(3) == 1 else x.contiguous() for x in (a, b)]
        M, K = _sparse_matmul.sizes(a, trans_a)
        _, N = _sparse_matmul.sizes(b, trans_b)
        tables, total = luts['sdd']
        c = torch.empty((a.size(0), total, block, block), dtype=a.dtype, device=a.device)
        TK = _sparse_matmul.step(a.dtype, 16)
        even = K % (TK * max(_sparse_matmul.splits)) == 0
        for pack, lut in tables.items():
            key = (block, pack, a.device, a.dtype, trans_a, trans_b, even, tuple(_sparse_matmul.splits))
            if key not in _sparse_matmul.sdd_cache:
                defines = {'NAME': 'sdd_kernel', 'SDD': True, 'TYPE': a.dtype,
                           'TM': block * pack, 'TN': block * pack, 'TK': TK, 'TZ': _sparse_matmul.splits,
                           'BLOCK': block, 'PACK': pack}
                if even:
                    defines['EVEN'] = True
                defines.update(_sparse_matmul.describe('A', 'M', 'K', trans_a, 'lda'))
                defines.update(_sparse_matmul.describe('B', 'N', 'K', trans_b, 'ldb'))
                _sparse_matmul.sdd_cache[key] = triton.kernel(src, defines=defines, num_warps=[1, 2, 4])
            kernel = _sparse_matmul.sdd_cache[key]
            locks = _sparse_matmul.get_locks(2 * lut.size(0) * a.size(0), a.device)
            kernel(a, b, c, alpha, M, N, K,
                   a.stride(2), b.stride(2), 0,
                   a.stride(0), b.stride(0), c.stride(0),
                   a.stride(1), b.stride(1), 0,
                   lut, 0, locks, 1,
                   grid=lambda opt: [lut.size(0), opt.d('TZ'), a.size(0)])
        return c

    ##########################################################################
    # dense = sparse x dense
    ##########################################################################

    @staticmethod
    def _dsd(a, b, trans_a, trans_b, trans_c, alpha, block, luts):
        a = a.contiguous()
        b = b if b.stride(3) == 1 else b.contiguous()
        lut, pieces, num_locks, lines = luts['cols' if trans_a else 'rows']
        K, N = _sparse_matmul.sizes(b, trans_b)
        M = lines * block
        shape = (a.size(0), b.size(1)) + ((N, M) if trans_c else (M, N))
        c = torch.empty(shape, dtype=a.dtype, device=a.device)
        even = N % 64 == 0
        key = (block, a.device, a.dtype, trans_a, trans_b, trans_c, even)
        if key not in _sparse_matmul.dsd_cache:
            defines = {'NAME': 'dsd_kernel', 'DSD': True, 'TYPE': a.dtype,
                       'TM': block, 'TN': [32, 64], 'TK': _sparse_matmul.step(a.dtype, block), 'BLOCK': block,
                       'STRIDE_CM': '1' if trans_c else 'ldc',
                       'STRIDE_CN': 'ldc' if trans_c else '1'}
            if even:
                defines['EVEN'] = True
            defines.update(_sparse_matmul.describe('A', 'M', 'K', trans_a, 'BLOCK'))
            defines.update(_sparse_matmul.describe('B', 'N', 'K', trans_b, 'ldb'))
            _sparse_matmul.dsd_cache[key] = triton.kernel(src, defines=defines, num_warps=[1, 2, 4])
        kernel = _sparse_matmul.dsd_cache[key]
        locks = _sparse_matmul.get_locks(2 * num_locks * triton.cdiv(N, 32) * a.size(0), a.device)
        for first in range(0, pieces, _sparse_matmul.max_pieces):
            kernel(a, b, c, alpha, M, N, K,
                   0, b.stride(2), c.stride(2),
                   a.stride(0), b.stride(0), c.stride(0),
                   0, b.stride(1), c.stride(1),
                   lut, first, locks, num_locks,
                   grid=lambda opt: [triton.cdiv(N, opt.d('TN')), min(_sparse_matmul.max_pieces, pieces - first),
                                     a.size(0)])
        return c

    ##########################################################################
    # dense = dense x sparse
    ##########################################################################

    @staticmethod
    def _dds(a, b, trans_a, trans_b, trans_c, alpha, block, luts):
        a = a if a.stride(3) == 1 else a.contiguous()
        b = b.contiguous()
        lut, pieces, num_locks, lines = luts['rows' if trans_b else 'cols']
        M, K = _sparse_matmul.sizes(a, trans_a)
        N = lines * block
        shape = (a.size(0), a.size(1)) + ((N, M) if trans_c else (M, N))
        c = torch.empty(shape, dtype=a.dtype, device=a.device)
        even = M % 64 == 0
        key = (block, a.device, a.dtype, trans_a, trans_b, trans_c, even)
        if key not in _sparse_matmul.dds_cache:
            defines = {'NAME': 'dds_kernel', 'DDS': True, 'TYPE': a.dtype,
                       'TM': [32, 64], 'TN': block, 'TK': _sparse_matmul.step(a.dtype, block), 'BLOCK': block,
                       'STRIDE_CM': '1' if trans_c else 'ldc',
                       'STRIDE_CN': 'ldc' if trans_c else '1'}
            if even:
                defines['EVEN'] = True
            defines.update(_sparse_matmul.describe('A', 'M', 'K', trans_a, 'lda'))
            defines.update(_sparse_matmul.describe('B', 'N', 'K', trans_b, 'BLOCK'))
            _sparse_matmul.dds_cache[key] = triton.kernel(src, defines=defines, num_warps=[1, 2, 4])
        kernel = _sparse_matmul.dds_cache[key]
        locks = _sparse_matmul.get_locks(2 * num_locks * triton.cdiv(M, 32) * a.size(0), a.device)
        for first in range(0, pieces, _sparse_matmul.max_pieces):
            kernel(a, b, c, alpha, M, N, K,
                   a.stride(2), 0, c.stride(2),
                   a.stride(0), b.stride(0), c.stride(0),
                   a.stride(1), 0, c.stride(1),
                   lut, first, locks, num_locks,
                   grid=lambda opt: [triton.cdiv(M, opt.d('TM')), min(_sparse_matmul.max_pieces, pieces - first),
                                     a.size(0)])
        return c

    ##########################################################################
    # autograd
    ##########################################################################

    @staticmethod
    def product(mode, *args):
        return getattr(_sparse_matmul, '_' + mode)(*args)

    @staticmethod
    def forward(ctx, a, b, trans_a, trans_b, mode, alpha, block, luts):
        c = _sparse_matmul.product(mode, a, b, trans_a, trans_b, False, alpha, block, luts)
        ctx.save_for_backward(a, b)
        ctx.trans_a, ctx.trans_b = trans_a, trans_b
        ctx.mode, ctx.alpha, ctx.block, ctx.luts = mode, alpha, block, luts
        return c

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        trans_a, trans_b = ctx.trans_a, ctx.trans_b
        args = (ctx.alpha, ctx.block, ctx.luts)
        dc = dc.contiguous()
        da, db = None, None
        # the letters of a mode are those of C, A and B
        c_is, a_is, b_is = ctx.mode
        if ctx.needs_input_grad[0]:
            da = _sparse_matmul.product(a_is + c_is + b_is, dc, b, False, not trans_b, trans_a, *args)
        if ctx.needs_input_grad[1]:
            db = _sparse_matmul.product(b_is + a_is + c_is, a, dc, not trans_a, False, trans_b, *args)
        return da, db, None, None, None, None, None, None


class MatMul:
    """
    Product of two matrices [batch, heads, rows, columns] of which, or of whose result, one is sparse: the blocks
    [batch, number, block, block] in the order of layout.nonzero().

    layout: [heads, rows, columns] of blocks, not zero where there is one. It is that of the matrix as it is
    stored: with trans_a and mode 'dsd', the transposed of a matrix with this layout is multiplied.
    """

    def __init__(self, layout, block, mode, trans_a=False, trans_b=False, alpha=1.):
        if mode not in ('sdd', 'dsd', 'dds'):
            raise NotImplementedError('supported modes are: sdd, dsd, dds')
        self.layout = layout.cpu().long()
        self.block, self.mode = block, mode
        self.trans_a, self.trans_b = trans_a, trans_b
        self.alpha = alpha
        self.lut_cache = dict()

    def make_luts(self, dtype, device):
        key = (dtype, device)
        if key in self.lut_cache:
            return self.lut_cache[key]
        step = _sparse_matmul.step(dtype, self.block)
        tables = sdd_tables(self.layout, max(1, 64 // self.block))
        total = int((self.layout > 0).sum())
        luts = {'sdd': ({pack: lut.to(device) for pack, lut in tables.items()}, total)}
        # along a row of a sparse matrix the inner dimension is contiguous, down a column it is not; that holds for
        # A = rows and B' = rows, as well as for A' = columns and B = columns
        for name, by_column, inner_stride in (('rows', False, 1), ('cols', True, self.block)):
            lut, pieces, num_locks = dxx_table(self.layout, self.block, step, by_column, inner_stride)
            luts[name] = lut.to(device), pieces, num_locks, self.layout.size(2 if by_column else 1)
        self.lut_cache[key] = luts
        return luts

    def __call__(self, a, b):
        luts = self.make_luts(a.dtype, a.device)
        return _sparse_matmul.apply(a, b, self.trans_a, self.trans_b, self.mode, self.alpha, self.block, luts)
