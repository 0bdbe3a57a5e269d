import threading
import sparse_tables
import torch
import triton

fwd_src = '''
__global__ void NAME(TYPE *X __aligned(16), float scale, int *LUT __readonly,
                     TYPE *RPE __readonly, TYPE *KEYS __readonly, TYPE *PAIRS __readonly,
                     int batch_x, int head_rpe, int row_rpe, int batch_keys, int row_pairs) {
  // this program's row of numbers, and the row of blocks that it runs through
  int line = get_program_id(0) / BLOCK;
  int within = get_program_id(0) % BLOCK;
  int batch = get_program_id(1);
  int count = *(LUT + line * 4);
  int *list = LUT + *(LUT + line * 4 + 1);
  int row = *(LUT + line * 4 + 2) * BLOCK + within;
  int head = *(LUT + line * 4 + 3);
  // element t of the row stands in the block number t / BLOCK of the list
  int t[TN] = 0 ... TN;
  bool check[TN] = t / BLOCK < count;
  int place[TN] = check ? t / BLOCK * 2 : 0;
  int block[TN] = *(list + place);
  int column[TN] = *(list + place + 1) * BLOCK + t % BLOCK;
  TYPE *px[TN] = X + batch * batch_x + (block * BLOCK + within) * BLOCK + t % BLOCK;
  float y[TN] = check ? *px : -INFINITY;
#ifdef APPLY_SCALE
  y = y * scale;
#endif
#ifdef APPLY_RPE
  y += check ? *(RPE + head * head_rpe + row * row_rpe + column) : 0;
#endif
#ifdef APPLY_KEYS
  TYPE key[TN] = check ? *(KEYS + batch * batch_keys + column) : -INFINITY;
#ifdef KEYS_MUL
  key = key == 0 ? (TYPE[TN])-INFINITY : 0;
#endif
  y += key;
#endif
#ifdef APPLY_PAIRS
  TYPE pair[TN] = check ? *(PAIRS + row * row_pairs + column) : -INFINITY;
#ifdef PAIRS_MUL
  pair = pair == 0 ? (TYPE[TN])-INFINITY : 0;
#endif
  y += pair;
#endif
  y = check ? y : -F32_INFINITY;
  y = exp(y - y[max]);
  *?(check) px = y / y[+];
}
'''

bwd_src = '''
__global__ void NAME(TYPE *Y __readonly __noalias __aligned(16), float scale, TYPE *DY __noalias __aligned(16),
                     int *LUT __readonly, int batch_y, int batch_dy) {
  int line = get_program_id(0) / BLOCK;
  int within = get_program_id(0) % BLOCK;
  int batch = get_program_id(1);
  int count = *(LUT + line * 4);
  int *list = LUT + *(LUT + line * 4 + 1);
  int t[TN] = 0 ... TN;
  bool check[TN] = t / BLOCK < count;
  int block[TN] = *(list + (check ? t / BLOCK * 2 : 0));
  int inside[TN] = (block * BLOCK + within) * BLOCK + t % BLOCK;
  TYPE *pdy[TN] = DY + batch * batch_dy + inside;
  // the gradient is replaced in place
  float y[TN] = check ? *(Y + batch * batch_y + inside) : 0;
  float dy[TN] = check ? *pdy : 0;
  *?(check) pdy = y * (dy - (y * dy)[+]) * scale;
}
'''

kernels = dict()
kernels_lock = threading.Lock()


def get_kernel(name, block, size, dtype, apply_scale, apply_rpe, apply_keys, apply_pairs,
               keys_mode, pairs_mode):
    key = (name, block, size, dtype, apply_scale, apply_rpe, apply_keys, apply_pairs,
           keys_mode, pairs_mode)
    with kernels_lock:
        if key not in kernels:
            # as long as the longest row, be that a power of two or not
            defines = {'NAME': name, 'TYPE': dtype, 'BLOCK': block, 'TN': size * block,
                       'INFINITY': {torch.float32: 'F32_INFINITY', torch.float16: 'F16_INFINITY'}[dtype]}
            if apply_scale:
                defines['APPLY_SCALE'] = True
            if apply_rpe:
                defines['APPLY_RPE'] = True
            if apply_keys:
                defines['APPLY_KEYS'] = True
                if keys_mode == 'mul':
                    defines['KEYS_MUL'] = True
            if apply_pairs:
                defines['APPLY_PAIRS'] = True
                if pairs_mode == 'mul':
                    defines['PAIRS_MUL'] = True
            src = fwd_src if name == 'softmax_fwd' else bwd_src
            kernels[key] = triton.kernel(src, defines=defines, num_warps=[4, 8])
        return kernels[key]


class _sparse_softmax(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, scale, rpe, keys, pairs, keys_mode, pairs_mode,
                lut, rows, maxlut, block, bench, times):
        x = x.clone()
        apply_scale = scale != 1.0
        # absent masks are empty tensors
        apply_rpe, apply_keys, apply_pairs = rpe is not None, keys is not None, pairs is not None
        empty = torch.empty(0, dtype=x.dtype, device=x.device)
        rpe, keys, pairs = [empty if m is None else m for m in (rpe, keys, pairs)]
        kernel = get_kernel('softmax_fwd', block, maxlut, x.dtype, apply_scale, apply_rpe, apply_keys,
                            apply_pairs, keys_mode, pairs_mode)
        times['y'] = kernel(x, scale, lut, rpe, keys, pairs, x.stride(0),
                            rpe.stride(0) if apply_rpe else 0, rpe.stride(1) if apply_rpe else 0,
                            keys.stride(0) if apply_keys else 0,
                            pairs.stride(0) if apply_pairs else 0,
                            grid=lambda opt: [rows * block, x.size(0)], bench=bench)
        ctx.save_for_backward(x, lut)
        ctx.args = scale, rows, maxlut, block, bench, times
        return x

    @staticmethod
    def backward(ctx, dx):
        x, lut = ctx.saved_tensors
        scale, rows, maxlut, block, bench, times = ctx.args
        dx = dx.clone(memory_format=torch.contiguous_format)
        kernel = get_kernel('softmax_bwd', block, maxlut, x.dtype, False, False, False, False, '', '')
        times['dx'] = kernel(x, scale, dx, lut, x.stride(0), dx.stride(0),
                             grid=lambda opt: [rows * block, x.size(0)], bench=bench)
        return (dx,) + (None,) * 12


class Softmax:
    """Softmax over the rows of a sparse matrix; rpe [heads, rows, columns], masks [batch, columns] and
    [rows, columns], which are added or, in mode 'mul', hide what is 0."""

    def __init__(self, layout, block, bench=0):
        self.layout, self.block, self.bench = layout, block, bench
        self.times = dict()
        self.luts = dict()

    def make_lut(self, device):
        if device not in self.luts:
            self.luts[device] = sparse_tables.make_row_lut(self.layout, device)
        return self.luts[device]

    def __call__(self, x, scale=1., rpe=None, key_padding_mask=None, attn_mask=None,
                 key_padding_mask_mode='add', attn_mask_mode='add'):
        return _sparse_softmax.apply(x, scale, rpe, key_padding_mask, attn_mask, key_padding_mask_mode,
                                     attn_mask_mode, *self.make_lut(x.device), self.block, self.bench, self.times)
