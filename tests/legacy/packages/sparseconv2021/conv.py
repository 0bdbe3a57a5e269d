import torch
import triton
from .filters import group_by, one_by_one

src = """
/*
 *  Y[z, k, p, q] = sum of X[z, c, p * stride_h - pad_h + r, q * stride_w - pad_w + s] * W[k, c, r, s]
 *
 *  without a macro: Y from X and W      (a tile: pixels of Y x output channels)
 *  DX:              X from Y and W      (a tile: pixels of X x input channels)
 *  DW:              W from X and Y      (a tile: output channels x input channels)
 */
#if defined(DX) && defined(DW)
#error "one at a time"
#endif

// shares of the sum over pixels are added by the caller
#ifdef DW
#define W_TYPE float
#else
#define W_TYPE TYPE
#endif

// channels that do not fill their last block
#ifdef RAGGED_C
#define IN_C(c) ((c) < C)
#else
#define IN_C(c) 1
#endif
#ifdef RAGGED_K
#define IN_K(k) ((k) < K)
#else
#define IN_K(k) 1
#endif

__global__ void NAME(TYPE *X __noalias __aligned(16),
                     W_TYPE *W __noalias __aligned(16),
                     TYPE *Y __noalias __aligned(16),
#if !defined(DX) && !defined(DW)
                     TYPE *BIAS __readonly,
#endif
                     int Z, int C, int H, int V, int K, int P, int Q,
                     int pad_h, int pad_w, int stride_h, int stride_w,
                     int stride_xz, int stride_xc, int stride_xh, int stride_xw,
                     int stride_yz, int stride_yk, int stride_yp, int stride_yq,
                     int *LUT __readonly) {
  int im[TM] = 0 ... TM;
  int in[TN] = 0 ... TN;
  int ik[TK] = 0 ... TK;
  float acc[TM, TN] = 0;

#ifdef DW
  /* ------------------------------------------------------- */
  /*  gradient of a piece of a filter: the sum is over pixels */
  /* ------------------------------------------------------- */
  int piece = get_program_id(0);
  int k[TM] = *(LUT + piece * 4) * BLOCK + im;
  int c[TN] = *(LUT + piece * 4 + 1) * BLOCK + in;
  int r = *(LUT + piece * 4 + 2);
  int s = *(LUT + piece * 4 + 3);
  bool checkk[TM] = IN_K(k);
  bool checkc[TN] = IN_C(c);
  // one of TZ shares of the pixels
  int pixels = Z * P * Q;
  int share = (pixels + TZ - 1) / TZ;
  int begin = get_program_id(1) * share;
  int end = min(begin + share, pixels);
  for (int i = begin; i < end; i += TK) {
    int pixel[TK] = i + ik;
    bool checkp[TK] = pixel < end;
    int z[TK] = pixel / (P * Q);
    int p[TK] = pixel % (P * Q) / Q;
    int q[TK] = pixel % Q;
    int h[TK] = p * stride_h - pad_h + r;
    int v[TK] = q * stride_w - pad_w + s;
    bool inside[TK] = checkp && h >= 0 && h < H && v >= 0 && v < V;
    TYPE *py[TM, TK] = Y + (z * stride_yz + p * stride_yp + q * Y_Q)[newaxis, :] + k[:, newaxis] * Y_K;
    TYPE *px[TK, TN] = X + (z * stride_xz + h * stride_xh + v * X_V)[:, newaxis] + c[newaxis, :] * X_C;
    bool checky[TM, TK] = checkk[:, newaxis] && checkp[newaxis, :];
    bool checkx[TK, TN] = inside[:, newaxis] && checkc[newaxis, :];
    TYPE y[TM, TK] = checky ? *py : 0;
    TYPE x[TK, TN] = checkx ? *px : 0;
    acc += y @ x;
  }
  float *pw[TM, TN] = W + (get_program_id(1) * get_num_programs(0) + piece) * (BLOCK * BLOCK)
                    + im[:, newaxis] * BLOCK + in[newaxis, :];
  *pw = acc;

#else
  /* ------------------------------------------------------- */
  /*  the sum is over pieces of filters, which are listed     */
  /* ------------------------------------------------------- */
  int line = get_program_id(1);
  int *list = LUT + *(LUT + line * 2);
  int count = *(LUT + line * 2 + 1);
  int pixel[TM] = get_program_id(0) * TM + im;

#ifdef DX
  bool checkm[TM] = pixel < Z * H * V;
  int z[TM] = pixel / (H * V);
  int h[TM] = pixel % (H * V) / V;
  int v[TM] = pixel % V;
  int c[TN] = line * BLOCK + in;
  for (int n = 0; n < count; n += 1) {
    int k[TK] = *list * BLOCK + ik;
    // the pixel of Y to which this piece of a filter takes mine
    int p[TM] = h + pad_h - *(list + 1);
    int q[TM] = v + pad_w - *(list + 2);
    bool inside[TM] = checkm;
#ifdef STRIDED
    inside = inside && p % stride_h == 0 && q % stride_w == 0;
    p = p / stride_h;
    q = q / stride_w;
#endif
    inside = inside && p >= 0 && p < P && q >= 0 && q < Q;
    TYPE *py[TM, TK] = Y + (z * stride_yz + p * stride_yp + q * Y_Q)[:, newaxis] + k[newaxis, :] * Y_K;
    TYPE *pw[TK, TN] = W + *(list + 3) * (BLOCK * BLOCK) + ik[:, newaxis] * BLOCK + in[newaxis, :];
    bool checkk[TK] = IN_K(k);
    bool checky[TM, TK] = inside[:, newaxis] && checkk[newaxis, :];
    TYPE y[TM, TK] = checky ? *py : 0;
    TYPE w[TK, TN] = *pw;
    acc += y @ w;
    list += 4;
  }
  TYPE *px[TM, TN] = X + (z * stride_xz + h * stride_xh + v * X_V)[:, newaxis] + c[newaxis, :] * X_C;
  bool checkc[TN] = IN_C(c);
  bool checkx[TM, TN] = checkm[:, newaxis] && checkc[newaxis, :];
  *?(checkx) px = acc;

#else
  bool checkm[TM] = pixel < Z * P * Q;
  int z[TM] = pixel / (P * Q);
  int p[TM] = pixel % (P * Q) / Q;
  int q[TM] = pixel % Q;
  int k[TN] = line * BLOCK + in;
  for (int n = 0; n < count; n += 1) {
    int c[TK] = *list * BLOCK + ik;
    int h[TM] = p * stride_h - pad_h + *(list + 1);
    int v[TM] = q * stride_w - pad_w + *(list + 2);
    bool inside[TM] = checkm && h >= 0 && h < H && v >= 0 && v < V;
    TYPE *px[TM, TK] = X + (z * stride_xz + h * stride_xh + v * X_V)[:, newaxis] + c[newaxis, :] * X_C;
    // a piece is [output, input]
    TYPE *pw[TN, TK] = W + *(list + 3) * (BLOCK * BLOCK) + in[:, newaxis] * BLOCK + ik[newaxis, :];
    bool checkc[TK] = IN_C(c);
    bool checkx[TM, TK] = inside[:, newaxis] && checkc[newaxis, :];
    TYPE x[TM, TK] = checkx ? *px : 0;
    TYPE w[TN, TK] = *pw;
    acc += x @ ^w;
    list += 4;
  }
  bool checkk[TN] = IN_K(k);
#ifdef APPLY_BIAS
  TYPE *pbias[TN] = BIAS + k;
  float bias[TN] = checkk ? *pbias : 0;
  acc += bias[newaxis, :];
#endif
#ifdef APPLY_RELU
  acc = max(acc, 0);
#endif
  TYPE *py[TM, TN] = Y + (z * stride_yz + p * stride_yp + q * Y_Q)[:, newaxis] + k[newaxis, :] * Y_K;
  bool checky[TM, TN] = checkm[:, newaxis] && checkk[newaxis, :];
  *?(checky) py = acc;
#endif
#endif
}
"""


def is_channels_last(x):
    return x.stride(1) == 1 and x.size(1) > 1


class _conv2d(torch.autograd.Function):

    kernels = dict()
    tables = dict()

    # rows of tiles and warps to try where tiles are pixels x channels
    tiles = [({'TM': '32'}, 2), ({'TM': '64'}, 4), ({'TM': '128'}, 4)]

    @staticmethod
    def get_table(name, layout, device):
        key = (name, id(layout), device)
        if key not in _conv2d.tables:
            if name == 'y':
                table = group_by(layout, 0)
            elif name == 'x':
                table = group_by(layout, 1)
            else:
                table = one_by_one(layout)
            # the layout is kept, so that nobody else gets its id
            _conv2d.tables[key] = table.to(device), layout
        return _conv2d.tables[key][0]

    @staticmethod
    def get_kernel(name, device, dtype, block, last_x, last_y, ragged_c, ragged_k, strided=False, bias=False,
                   relu=False, shares=1):
        key = (name, device, dtype, block, last_x, last_y, ragged_c, ragged_k, strided, bias, relu, shares)
        if key not in _conv2d.kernels:
            defines = {
                'NAME': 'conv_' + name,
                'TYPE': dtype,
                'BLOCK': str(block),
                'TN': str(block),
                # images [Z, C, H, W] or [Z, H, W, C]
                'X_C': '1' if last_x else 'stride_xc',
                'X_V': 'stride_xw' if last_x else '1',
                'Y_K': '1' if last_y else 'stride_yk',
                'Y_Q': 'stride_yq' if last_y else '1',
            }
            if ragged_c:
                defines['RAGGED_C'] = ''
            if ragged_k:
                defines['RAGGED_K'] = ''
            if name == 'dw':
                defines['DW'] = ''
                defines['TM'] = str(block)
                defines['TK'] = '32' if dtype == torch.float16 else '16'
                defines['TZ'] = str(shares)
                kernel = triton.kernel(src, device=device, defines=defines, num_warps=4 if block >= 32 else 2)
            else:
                defines['TK'] = str(block)
                if name == 'dx':
                    defines['DX'] = ''
                    if strided:
                        defines['STRIDED'] = ''
                if bias:
                    defines['APPLY_BIAS'] = ''
                if relu:
                    defines['APPLY_RELU'] = ''
                kernel = triton.kernel(src, device=device, defines=defines, autotune_vals=_conv2d.tiles,
                                       autotune_key=['Z', 'C', 'H', 'V', 'K'])
            _conv2d.kernels[key] = kernel
        return _conv2d.kernels[key]

    @staticmethod
    def dense(x):
        """rows of pixels or channels in one piece"""
        return x if x.stride(3) == 1 or x.stride(1) == 1 else x.contiguous()

    @staticmethod
    def forward(ctx, x, w, bias, layout, block, K, padding, stride, relu):
        x, w = _conv2d.dense(x), w.contiguous()
        Z, C, H, V = x.shape
        R, S = layout.size(2), layout.size(3)
        P = (H + 2 * padding[0] - R) // stride[0] + 1
        Q = (V + 2 * padding[1] - S) // stride[1] + 1
        last = is_channels_last(x)
        memory = torch.channels_last if last else torch.contiguous_format
        y = torch.empty((Z, K, P, Q), dtype=x.dtype, device=x.device, memory_format=memory)
        kernel = _conv2d.get_kernel('y', x.device, x.dtype, block, last, is_channels_last(y),
                                    C % block != 0, K % block != 0, bias=bias is not None, relu=relu)
        lut = _conv2d.get_table('y', layout, x.device)
        kernel(x.data_ptr(), w.data_ptr(), y.data_ptr(), bias.data_ptr() if bias is not None else 0,
               Z, C, H, V, K, P, Q, *padding, *stride, *x.stride(), *y.stride(), lut.data_ptr(),
               grid=lambda opt: [triton.cdiv(Z * P * Q, opt.TM), layout.size(0)])
        ctx.save_for_backward(x, w, y if relu else None)
        ctx.has_bias = bias is not None
        ctx.layout, ctx.block, ctx.padding, ctx.stride = layout, block, padding, stride
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, y = ctx.saved_tensors
        layout, block, padding, stride = ctx.layout, ctx.block, ctx.padding, ctx.stride
        if y is not None:
            dy = dy * (y > 0)
        dy = _conv2d.dense(dy)
        Z, C, H, V = x.shape
        _, K, P, Q = dy.shape
        last_x, last_y = is_channels_last(x), is_channels_last(dy)
        ragged = C % block != 0, K % block != 0
        sizes = [Z, C, H, V, K, P, Q, *padding, *stride]
        dx = dw = dbias = None
        if ctx.needs_input_grad[0]:
            dx = torch.empty_like(x)
            kernel = _conv2d.get_kernel('dx', x.device, x.dtype, block, is_channels_last(dx), last_y, *ragged,
                                        strided=tuple(stride) != (1, 1))
            lut = _conv2d.get_table('x', layout, x.device)
            kernel(dx.data_ptr(), w.data_ptr(), dy.data_ptr(), *sizes, *dx.stride(), *dy.stride(), lut.data_ptr(),
                   grid=lambda opt: [triton.cdiv(Z * H * V, opt.TM), layout.size(1)])
        if ctx.needs_input_grad[1]:
            # enough programs for a device, if there are enough pixels
            shares = max(1, min(triton.cdiv(256, w.size(0)), Z * P * Q // 128))
            part = torch.empty((shares,) + tuple(w.shape), dtype=torch.float32, device=w.device)
            kernel = _conv2d.get_kernel('dw', x.device, x.dtype, block, last_x, last_y, *ragged, shares=shares)
            lut = _conv2d.get_table('w', layout, x.device)
            kernel(x.data_ptr(), part.data_ptr(), dy.data_ptr(), *sizes, *x.stride(), *dy.stride(), lut.data_ptr(),
                   grid=lambda opt: [w.size(0), shares])
            dw = part.sum(0).to(w.dtype)
        if ctx.has_bias and ctx.needs_input_grad[2]:
            dbias = dy.sum((0, 2, 3))
        return dx, dw, dbias, None, None, None, None, None, None


def conv2d(x, w, layout, block, out_channels, bias=None, padding=(0, 0), stride=(1, 1), relu=False):
    """images [Z, C, H, W], pieces of filters [number, block, block] -> [Z, out_channels, P, Q]"""
    return _conv2d.apply(x, w, bias, layout, block, out_channels, padding, stride, relu)


class SparseConv2d(torch.nn.Module):
    """a convolution, perhaps with what usually follows it, whose filters have pieces where the layout says so"""

    def __init__(self, in_channels, out_channels, kernel_size, layout, block, padding=0, stride=1, bias=True,
                 relu=False):
        super(SparseConv2d, self).__init__()
        pair = lambda n: (n, n) if isinstance(n, int) else tuple(n)
        assert tuple(layout.shape[2:]) == pair(kernel_size)
        self.layout, self.block = layout.cpu(), block
        self.in_channels, self.out_channels = in_channels, out_channels
        self.padding, self.stride, self.relu = pair(padding), pair(stride), relu
        fan_in = max(1, int(layout.sum())) * block / layout.size(0)
        self.weight = torch.nn.Parameter(torch.randn(int(layout.sum()), block, block) * fan_in ** -0.5)
        self.bias = torch.nn.Parameter(torch.zeros(out_channels)) if bias else None

    def forward(self, x):
        return conv2d(x, self.weight, self.layout, self.block, self.out_channels, self.bias, self.padding,
                      self.stride, self.relu)
