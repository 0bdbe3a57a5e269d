import threading
import sparse_tables
import torch
import triton

# Products in which one of three matrices is block-sparse: of a sparse matrix [B, nnz, BLOCK, BLOCK] the blocks
# stand in the order of layout.nonzero(). S is sparse, D is dense: SDD reads "sparse = dense x dense".

src = '''
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
'''


class _sparse_matmul(torch.autograd.Function):

    # kernels by what was compiled into them; several threads may ask for one
    cache = dict()
    lock = threading.Lock()
    locks = dict()
    # a launch takes at most so many blocks
    max_width = 5

    @staticmethod
    def get_locks(size, dev):
        with _sparse_matmul.lock:
            if dev not in _sparse_matmul.locks or size > _sparse_matmul.locks[dev].numel():
                _sparse_matmul.locks[dev] = torch.zeros(size, dtype=torch.int32, device=dev)
        return _sparse_matmul.locks[dev]

    @staticmethod
    def get_kernel(mode, block, dtype, trans):
        key = (mode, block, dtype, trans)
        with _sparse_matmul.lock:
            if key not in _sparse_matmul.cache:
                defines = {
                    'NAME': mode + '_kernel',
                    mode.upper(): True,
                    'TYPE': dtype,
                    'BLOCK': block,
                    'TZ': 2 if mode == 'sdd' else 1,
                    'TM': 32 if mode == 'dds' else block,
                    'TN': 32 if mode == 'dsd' else block,
                    'TK': 16 if mode == 'sdd' else block,
                    'STRIDE_OUTER': 1 if trans else 'BLOCK',
                    'STRIDE_INNER': 'BLOCK' if trans else 1,
                }
                _sparse_matmul.cache[key] = triton.kernel(src, device=torch.device('cuda'), defines=defines,
                                                          num_warps=4)
            return _sparse_matmul.cache[key]

    @staticmethod
    def strides(x, trans):
        """batch, head, row, column"""
        return [x.stride(0), x.stride(1), x.stride(3), x.stride(2)] if trans else \
               [x.stride(0), x.stride(1), x.stride(2), x.stride(3)]

    @staticmethod
    def sdd(a, b, trans_a, trans_b, luts, block):
        M, K = (a.size(3), a.size(2)) if trans_a else (a.size(2), a.size(3))
        N = b.size(2) if trans_b else b.size(3)
        lut = luts['sdd']
        width = lut.size(0)
        c = torch.empty((a.size(0), width, block, block), dtype=a.dtype, device=a.device)
        kernel = _sparse_matmul.get_kernel('sdd', block, a.dtype, False)
        max_width = _sparse_matmul.max_width
        nlocks = a.size(0) * max_width
        locks = _sparse_matmul.get_locks(2 * nlocks, a.device)
        for off_width in range(0, width, max_width):
            kernel(a.data_ptr(), b.data_ptr(), c.data_ptr(), M, N, K,
                   *_sparse_matmul.strides(a, trans_a), *_sparse_matmul.strides(b, trans_b),
                   c.stride(0), 0, 0,
                   lut.data_ptr(), locks.data_ptr(), nlocks, off_width,
                   grid=lambda opt: [opt.TZ, min(max_width, width - off_width), a.size(0)])
        return c

    @staticmethod
    def dsd(a, b, trans_a, trans_b, luts, block):
        N = b.size(2) if trans_b else b.size(3)
        lut, rows = luts['cols' if trans_a else 'rows']
        heads, M = b.size(1), rows * block
        c = torch.empty((a.size(0), heads, M, N), dtype=a.dtype, device=a.device)
        kernel = _sparse_matmul.get_kernel('dsd', block, a.dtype, trans_a)
        max_width = _sparse_matmul.max_width
        for off_width in range(0, heads * rows, max_width):
            kernel(a.data_ptr(), b.data_ptr(), c.data_ptr(), M, N, 0,
                   a.stride(0), 0, 0, 0, *_sparse_matmul.strides(b, trans_b),
                   c.stride(0), c.stride(1), c.stride(2),
                   lut.data_ptr(), 0, 0, off_width,
                   grid=lambda opt: [triton.cdiv(N, opt.TN), min(max_width, heads * rows - off_width), a.size(0)])
        return c

    @staticmethod
    def dds(a, b, trans_a, trans_b, luts, block):
        M = a.size(3) if trans_a else a.size(2)
        lut, cols = luts['rows' if trans_b else 'cols']
        heads, N = a.size(1), cols * block
        c = torch.empty((a.size(0), heads, M, N), dtype=a.dtype, device=a.device)
        kernel = _sparse_matmul.get_kernel('dds', block, a.dtype, trans_b)
        max_width = _sparse_matmul.max_width
        for off_width in range(0, heads * cols, max_width):
            kernel(a.data_ptr(), b.data_ptr(), c.data_ptr(), M, N, 0,
                   *_sparse_matmul.strides(a, trans_a), b.stride(0), 0, 0, 0,
                   c.stride(0), c.stride(1), c.stride(2),
                   lut.data_ptr(), 0, 0, off_width,
                   grid=lambda opt: [triton.cdiv(M, opt.TM), min(max_width, heads * cols - off_width), a.size(0)])
        return c

    @staticmethod
    def forward(ctx, a, b, trans_a, trans_b, mode, luts, block):
        ctx.save_for_backward(a, b)
        ctx.args = trans_a, trans_b, mode, luts, block
        return getattr(_sparse_matmul, mode)(a, b, trans_a, trans_b, luts, block)

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        ta, tb, mode, luts, block = ctx.args
        fn = _sparse_matmul
        dc = dc.contiguous()
        # op(A) op(B) = C, so dA is dC op(B)' or, of a transposed A, op(B) dC'
        mode_da = {'sdd': 'dds' if ta else 'dsd', 'dsd': 'sdd', 'dds': 'dsd' if ta else 'dds'}[mode]
        mode_db = {'sdd': 'dsd' if tb else 'dds', 'dds': 'sdd', 'dsd': 'dds' if tb else 'dsd'}[mode]
        da, db = None, None
        if ctx.needs_input_grad[0]:
            x = (b, dc, tb, True) if ta else (dc, b, False, not tb)
            da = getattr(fn, mode_da)(*x, luts, block)
        if ctx.needs_input_grad[1]:
            x = (dc, a, True, ta) if tb else (a, dc, not ta, False)
            db = getattr(fn, mode_db)(*x, luts, block)
        return da, db, None, None, None, None, None


class MatMul(torch.nn.Module):
    """One product for a layout [heads, rows, columns] of blocks."""

    def __init__(self, layout, block, mode, trans_a=False, trans_b=False):
        super(MatMul, self).__init__()
        assert mode in ('sdd', 'dsd', 'dds')
        self.layout, self.block, self.mode = layout, block, mode
        self.trans_a, self.trans_b = trans_a, trans_b
        self.luts = dict()

    def make_luts(self, device):
        if device not in self.luts:
            self.luts[device] = sparse_tables.make_luts(self.layout, device)
        return self.luts[device]

    def forward(self, a, b):
        return _sparse_matmul.apply(a, b, self.trans_a, self.trans_b, self.mode,
                                    self.make_luts(a.device), self.block)
