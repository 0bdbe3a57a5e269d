import torch
import triton

# What is done to the scores before their softmax is a matter of macros; one that is not defined costs nothing.
#
#   APPLY_SCALE       multiply by a number
#   APPLY_RPE         add a bias [heads, M, N]
#   APPLY_KP_MASK     add a mask [batch, N], or with KP_MASK_MUL hide columns where it is 0
#   APPLY_ATTN_MASK   add a mask [M, N], or with ATTN_MASK_MUL hide elements where it is 0
#   CAUSAL            hide what is right of the diagonal
#   DROPOUT           forget elements by chance, the same in both directions
#   BACKWARD          the gradient; with GRAD_RPE that of the bias, too

src = '''
// tiles are TM rows of one row of blocks, as long as the longest of these
#define ROWS_OF_TILES (BLOCK / TM)

__global__ void NAME(
#ifdef BACKWARD
                     TYPE *Y __readonly __noalias __aligned(16),
                     TYPE *DY __readonly __noalias __aligned(16),
                     TYPE *DX __noalias __aligned(16),
                     float *DRPE,
#else
                     TYPE *X __readonly __noalias __aligned(16),
                     TYPE *Y __noalias __aligned(16),
                     TYPE *RPE __readonly __noalias,
                     TYPE *KP_MASK __readonly __noalias,
                     TYPE *ATTN_MASK __readonly __noalias,
#endif
                     float scale,
                     int *FIRST __readonly, int *COLUMN __readonly,
                     int num_lines __retune,
                     long stride_z __multipleof(16),
                     long stride_hrpe, int stride_mrpe
#ifndef BACKWARD
                     , int stride_zkp, int stride_mattn
#endif
#ifdef DROPOUT
#ifndef BACKWARD
                     , TYPE *OUT __noalias __aligned(16)
#endif
                     , unsigned int seed, unsigned int threshold, float amplify
#endif
                     ) {
  /* --------------------------- */
  /*   my rows                   */
  /* --------------------------- */
  int pid = get_program_id(0);
  int batch = get_program_id(1);
  int line = pid / ROWS_OF_TILES;
  int head = line / num_lines;
  // rows within their blocks, and within the matrix
  int ri[TM] = pid % ROWS_OF_TILES * TM + 0 ... TM;
  int rm[TM] = line % num_lines * BLOCK + ri;

  /* --------------------------- */
  /*   my blocks                 */
  /* --------------------------- */
  // those of a line follow each other
  int first = *(FIRST + line);
  int count = *(FIRST + line + 1) - first;
  int rt[TN] = 0 ... TN;
  int rj[TN] = rt % BLOCK;
  int rb[TN] = first + rt / BLOCK;
  bool checkn[TN] = rt < count * BLOCK;
  int *pcolumn[TN] = COLUMN + rb;
  int column[TN] = checkn ? *pcolumn : 0;
  int rn[TN] = column * BLOCK + rj;
  bool check[TM, TN] = checkn[newaxis, :];
  int offset[TM, TN] = (rb * BLOCK)[newaxis, :] * BLOCK + ri[:, newaxis] * BLOCK + rj[newaxis, :];

#ifdef DROPOUT
  /* --------------------------- */
  /*   chance                    */
  /* --------------------------- */
  // the number of an element, well shaken; its upper 24 bits decide
  unsigned int r[TM, TN] = (unsigned int)(batch * stride_z) + offset;
  r = (r ^ seed) * 0x9E3779B1;
  r = (r ^ (r >> 15)) * 0x85EBCA77;
  r = (r ^ (r >> 13)) * 0xC2B2AE3D;
  r = r ^ (r >> 16);
  bool kept[TM, TN] = (r >> 8) < threshold;
#endif

#ifdef BACKWARD
  /* --------------------------- */
  /*   gradient                  */
  /* --------------------------- */
  TYPE *py[TM, TN] = Y + batch * stride_z + offset;
  TYPE *pdy[TM, TN] = DY + batch * stride_z + offset;
  float y[TM, TN] = check ? *py : 0;
  float dy[TM, TN] = check ? *pdy : 0;
#ifdef DROPOUT
  dy = kept ? dy * amplify : 0;
#endif
  // each row keeps its sum
  float dot[TM] = (y * dy)[:, +];
  float dx[TM, TN] = y * (dy - dot[:, newaxis]);
#ifdef GRAD_RPE
  // all batches have the same bias
  float *pdrpe[TM, TN] = DRPE + head * stride_hrpe + rm[:, newaxis] * stride_mrpe + rn[newaxis, :];
  atomic_add(float, TM, TN)(pdrpe, dx, check);
#endif
#ifdef APPLY_SCALE
  dx = dx * scale;
#endif
  TYPE *pdx[TM, TN] = DX + batch * stride_z + offset;
  *?(check) pdx = dx;

#else
  /* --------------------------- */
  /*   scores                    */
  /* --------------------------- */
  TYPE *px[TM, TN] = X + batch * stride_z + offset;
  float x[TM, TN] = check ? *px : -INFINITY;
#ifdef APPLY_SCALE
  x = x * scale;
#endif

#ifdef APPLY_RPE
  TYPE *prpe[TM, TN] = RPE + head * stride_hrpe + rm[:, newaxis] * stride_mrpe + rn[newaxis, :];
  TYPE rpe[TM, TN] = check ? *prpe : 0;
  x = x + rpe;
#endif

#ifdef APPLY_KP_MASK
  // one number for each column
  TYPE *pkp_m[TN] = KP_MASK + batch * stride_zkp + rn;
  TYPE kp_m[TN] = checkn ? *pkp_m : -INFINITY;
#ifdef KP_MASK_MUL
  kp_m = kp_m == 0 ? (TYPE[TN])-INFINITY : 0;
#endif
  x = x + kp_m[newaxis, :];
#endif

#ifdef APPLY_ATTN_MASK
  // one number for each element of a head
  TYPE *pattn_m[TM, TN] = ATTN_MASK + rm[:, newaxis] * stride_mattn + rn[newaxis, :];
  TYPE attn_m[TM, TN] = check ? *pattn_m : -INFINITY;
#ifdef ATTN_MASK_MUL
  attn_m = attn_m == 0 ? (TYPE[TM, TN])-INFINITY : 0;
#endif
  x = x + attn_m;
#endif

#ifdef CAUSAL
  bool seen[TM, TN] = rn[newaxis, :] <= rm[:, newaxis];
  check = check && seen;
#endif
  x = check ? x : -F32_INFINITY;

  /* --------------------------- */
  /*   softmax                   */
  /* --------------------------- */
  float highest[TM] = x[:, max];
  x = exp(x - highest[:, newaxis]);
  float sum[TM] = x[:, +];
  x = x / sum[:, newaxis];
  TYPE *py[TM, TN] = Y + batch * stride_z + offset;
  // what is hidden within a block is zero, so that a product may use the whole of it
  *?(checkn[newaxis, :]) py = x;
#ifdef DROPOUT
  // the gradient needs what was before, and what is after goes on
  TYPE *pout[TM, TN] = OUT + batch * stride_z + offset;
  *?(checkn[newaxis, :]) pout = kept ? x * amplify : 0;
#endif
#endif
}
'''

forward_kernels = dict()
backward_kernels = dict()

type_names = {torch.float16: 'half', torch.float32: 'float'}
infinities = {torch.float16: 'F16_INFINITY', torch.float32: 'F32_INFINITY'}


def tile_width(n):
    """room for n columns; steps grow with n, so that there are not too many kernels"""
    step = 32 if n <= 128 else 128 if n <= 512 else 256
    return (n + step - 1) // step * step


def tile_height(width):
    return [4, 2] if width <= 128 else [2] if width <= 512 else [1]


def get_warps(width):
    if width < 256:
        return [1, 2]
    elif width < 1024:
        return [2, 4]
    return [4, 8]


def common_defines(dtype, block, width):
    return {'TYPE': type_names[dtype], 'INFINITY': infinities[dtype], 'BLOCK': block, 'TN': width,
            'TM': tile_height(width)}


def get_forward(device, dtype, block, width, apply_scale, apply_rpe, apply_kp_mask, apply_attn_mask,
                kp_mask_mode, attn_mask_mode, causal, dropout):
    key = (device, dtype, block, width, apply_scale, apply_rpe, apply_kp_mask, apply_attn_mask,
           kp_mask_mode, attn_mask_mode, causal, dropout)
    if key in forward_kernels:
        return forward_kernels[key]
    defines = common_defines(dtype, block, width)
    defines['NAME'] = 'softmax_forward'
    if apply_scale:
        defines['APPLY_SCALE'] = True
    if apply_rpe:
        defines['APPLY_RPE'] = True
    if apply_kp_mask:
        defines['APPLY_KP_MASK'] = True
        if kp_mask_mode == 'mul':
            defines['KP_MASK_MUL'] = True
    if apply_attn_mask:
        defines['APPLY_ATTN_MASK'] = True
        if attn_mask_mode == 'mul':
            defines['ATTN_MASK_MUL'] = True
    if causal:
        defines['CAUSAL'] = True
    if dropout:
        defines['DROPOUT'] = True
    forward_kernels[key] = triton.kernel(src, defines=defines, num_warps=get_warps(width))
    return forward_kernels[key]


def get_backward(device, dtype, block, width, apply_scale, grad_rpe, dropout):
    key = (device, dtype, block, width, apply_scale, grad_rpe, dropout)
    if key in backward_kernels:
        return backward_kernels[key]
    defines = dict(common_defines(dtype, block, width), NAME='softmax_backward', BACKWARD=True)
    if apply_scale:
        defines.update(APPLY_SCALE=True)
    if grad_rpe:
        defines.update(GRAD_RPE=True)
    if dropout:
        defines.update(DROPOUT=True)
    backward_kernels[key] = triton.kernel(src, defines=defines, num_warps=get_warps(width))
    return backward_kernels[key]


class _sparse_softmax(torch.autograd.Function):

    @staticmethod
    def make_lut(layout, device):
        """
        where the blocks of each line begin, one number more than there are lines; the column of each block; the
        most blocks of a line
        """
        sizes = layout.sum(-1).flatten()
        first = torch.zeros(sizes.numel() + 1, dtype=torch.int64)
        first[1:] = torch.cumsum(sizes, dim=0)
        column = layout.nonzero()[:, 2]
        return first.int().to(device), column.int().to(device), int(sizes.max())

    @staticmethod
    def forward(ctx, x, scale, rpe, kp_mask, attn_mask, kp_mask_mode, attn_mask_mode, causal, p, seed,
                layout, block, first, column, longest):
        x = x.contiguous()
        heads, lines, _ = layout.shape
        width = tile_width(longest * block)
        # what is absent is not looked at
        if rpe is None:
            apply_rpe, stride_hrpe, stride_mrpe = False, 0, 0
        else:
            rpe = rpe.contiguous()
            apply_rpe, stride_hrpe, stride_mrpe = True, rpe.stride(0), rpe.stride(1)
        if kp_mask is None:
            apply_kp_mask, stride_zkp = False, 0
        else:
            apply_kp_mask, stride_zkp = True, kp_mask.stride(0)
        if attn_mask is None:
            apply_attn_mask, stride_mattn = False, 0
        else:
            apply_attn_mask, stride_mattn = True, attn_mask.stride(0)
        apply_scale = scale != 1.0
        y = torch.empty_like(x)
        kernel = get_forward(x.device, x.dtype, block, width, apply_scale, apply_rpe, apply_kp_mask,
                             apply_attn_mask, kp_mask_mode, attn_mask_mode, causal, p > 0)
        # more arguments where there is dropout
        chance = (seed, int((1 - p) * 2**24), 1. / (1 - p)) if p > 0 else ()
        out = torch.empty_like(x) if p > 0 else y
        kernel(x, y, rpe, kp_mask, attn_mask, scale, first, column, lines, x.stride(0),
               stride_hrpe, stride_mrpe, stride_zkp, stride_mattn, *(((out,) + chance) if p > 0 else ()),
               grid=lambda opt: [heads * lines * (block // opt.d('TM')), x.size(0)])
        ctx.save_for_backward(y, first, column)
        ctx.args = scale, heads, lines, block, width, chance
        ctx.rpe = (rpe.shape, rpe.dtype) if apply_rpe else None
        return out

    @staticmethod
    def backward(ctx, dy):
        y, first, column = ctx.saved_tensors
        scale, heads, lines, block, width, chance = ctx.args
        dy = dy.contiguous()
        dx = torch.empty_like(y)
        drpe = None
        if ctx.needs_input_grad[2]:
            shape, dtype = ctx.rpe
            # many rows are added to it, which half would not stand
            drpe = torch.zeros(shape, dtype=torch.float32, device=y.device)
        kernel = get_backward(y.device, y.dtype, block, width, scale != 1.0, drpe is not None,
                              len(chance) > 0)
        kernel(y, dy, dx, drpe, scale, first, column, lines, y.stride(0),
               0 if drpe is None else drpe.stride(0), 0 if drpe is None else drpe.stride(1), *chance,
               grid=lambda opt: [heads * lines * (block // opt.d('TM')), y.size(0)])
        if drpe is not None:
            drpe = drpe.to(dtype)
        return (dx, None, drpe) + (None,) * 12


class Softmax:
    """
    Softmax over the rows of a sparse matrix, given as its blocks [batch, number, block, block] in the order of
    layout.nonzero(); elements without a block count as minus infinity.

    Masks are of the type of the matrix. Modes are 'add' and 'mul'.
    """

    def __init__(self, layout, block, causal=False, dropout=0.):
        self.layout = (layout.cpu() > 0).long()
        self.block = block
        self.causal = causal
        self.dropout = dropout
        self.luts = dict()

    def __call__(self, x, scale=1., rpe=None, key_padding_mask=None, attn_mask=None,
                 key_padding_mask_mode='add', attn_mask_mode='add', seed=None):
        if seed is None:
            seed = int(torch.randint(2**31, ()))
        for mode in (key_padding_mask_mode, attn_mask_mode):
            if mode not in ('add', 'mul'):
                raise ValueError('a mask is added (add) or hides where it is 0 (mul), not ' + repr(mode))
        for mask in (rpe, key_padding_mask, attn_mask):
            if mask is not None and mask.dtype != x.dtype:
                raise ValueError('masks must have the type of the matrix, %s' % x.dtype)
        if x.device not in self.luts:
            self.luts[x.device] = _sparse_softmax.make_lut(self.layout, x.device)
        return _sparse_softmax.apply(x, scale, rpe, key_padding_mask, attn_mask, key_padding_mask_mode,
                                     attn_mask_mode, self.causal, self.dropout, seed, self.layout, self.block,
                                     *self.luts[x.device])
