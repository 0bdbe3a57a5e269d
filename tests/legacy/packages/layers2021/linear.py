import torch
import triton
from .sources import source

ACTIVATIONS = {None: ('NONE', 0.), 'relu': ('RELU', 0.), 'leaky_relu': ('LEAKY_RELU', 0.01),
               'silu': ('SWISH', 1.), 'gelu': ('SWISH', 1.702)}


def pow2_divisor(N):
    for div in (16, 8, 4, 2):
        if N % div == 0:
            return div
    return 1


class _linear(torch.autograd.Function):

    configs = [
        triton.config(defines={"TM": "32", "TN": "32", "TK": "16"}, num_warps=2),
        triton.config(defines={"TM": "64", "TN": "32", "TK": "32"}, num_warps=4),
        triton.config(defines={"TM": "64", "TN": "64", "TK": "32"}, num_warps=4),
    ]
    kernels = dict()

    @staticmethod
    def product(a, b, bias=None, activation=None, save=False, alpha=1.):
        """act(alpha a b + bias) and, to be saved, what was before the activation"""
        # operands are contiguous in one of their dimensions
        if a.stride(0) > 1 and a.stride(1) > 1:
            a = a.contiguous()
        if b.stride(0) > 1 and b.stride(1) > 1:
            b = b.contiguous()
        (M, K), (_, N) = a.shape, b.shape
        c = torch.empty((M, N), device=a.device, dtype=a.dtype)
        pre = torch.empty_like(c) if save else None
        # kernel hash
        is_a_row = a.stride(1) == 1
        is_b_row = b.stride(1) == 1
        lda = a.stride(0) if is_a_row else a.stride(1)
        ldb = b.stride(0) if is_b_row else b.stride(1)
        ldc = c.stride(0)
        divs = [pow2_divisor(ld) for ld in (lda, ldb, ldc)]
        even_k = K % 32 == 0
        key = (a.device, a.dtype, is_a_row, is_b_row, *divs, even_k, bias is not None, activation, save)
        if key not in _linear.kernels:
            defines = {
                'TYPE': a.dtype,
                'EVEN_K': int(even_k),
                'LDA_POW2_DIV': divs[0],
                'LDB_POW2_DIV': divs[1],
                'LDC_POW2_DIV': divs[2],
            }
            if is_a_row:
                defines['STRIDE_AM'] = 'lda'
                defines['STRIDE_AK'] = '1'
            else:
                defines['STRIDE_AM'] = '1'
                defines['STRIDE_AK'] = 'lda'
            if is_b_row:
                defines['STRIDE_BK'] = 'ldb'
                defines['STRIDE_BN'] = '1'
            else:
                defines['STRIDE_BK'] = '1'
                defines['STRIDE_BN'] = 'ldb'
            if bias is not None:
                defines['BIAS'] = True
            if activation is not None:
                act, slope = ACTIVATIONS[activation]
                defines['ACT'] = act
                if slope:
                    defines['SLOPE'] = slope
            if save:
                defines['SAVE'] = True
            _linear.kernels[key] = triton.kernel(source('activations.tr', 'linear.tr'), device=a.device,
                                                 defines=defines, autotune_configs=_linear.configs,
                                                 autotune_key=['M', 'N', 'K'])
        args = [a.data_ptr(), b.data_ptr(), c.data_ptr()]
        if bias is not None:
            args += [bias.data_ptr()]
        if save:
            args += [pre.data_ptr()]
        args += [alpha, M, N, K, lda, ldb, ldc]
        _linear.kernels[key](*args, grid=lambda opt: [triton.cdiv(M, opt.TM) * triton.cdiv(N, opt.TN)])
        return c, pre

    @staticmethod
    def back_through(activation, dy, pre, has_bias):
        """the gradients of what was before the activation and of the bias"""
        if activation is None and not has_bias:
            return dy, None
        M, N = dy.shape
        dx = dy if activation is None else torch.empty_like(dy)
        dbias = torch.zeros(N, dtype=torch.float32, device=dy.device)
        key = ('back', dy.device, dy.dtype, activation, has_bias)
        if key not in _linear.kernels:
            act, slope = ACTIVATIONS[activation]
            defines = dict(TYPE=dy.dtype, ACT=act, SLOPE=slope, TM=16, TN=64)
            if has_bias:
                defines['BIAS'] = True
            _linear.kernels[key] = triton.kernel(source('activations.tr', 'activate_back.tr'), device=dy.device,
                                                 defines=defines, num_warps=4)
        _linear.kernels[key](dx.data_ptr(), dy.data_ptr(), 0 if pre is None else pre.data_ptr(), dbias.data_ptr(),
                             M, N, grid=lambda opt: [triton.cdiv(M, opt.TM), triton.cdiv(N, opt.TN)])
        return dx, dbias

    @staticmethod
    def forward(ctx, x, w, bias, activation, alpha):
        y, pre = _linear.product(x, w.t(), bias, activation, save=activation is not None, alpha=alpha)
        ctx.save_for_backward(x, w, pre)
        ctx.activation, ctx.alpha = activation, alpha
        ctx.bias_type = None if bias is None else bias.dtype
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, pre = ctx.saved_tensors
        dy, dbias = _linear.back_through(ctx.activation, dy.contiguous(), pre, ctx.bias_type is not None)
        dx, _ = _linear.product(dy, w, alpha=ctx.alpha)
        dw, _ = _linear.product(dy.t(), x, alpha=ctx.alpha)
        return dx, dw, dbias.to(ctx.bias_type) if ctx.bias_type is not None else None, None, None


def linear(x, w, bias=None, activation=None, alpha=1.):
    """act(alpha x w' + bias) for x [..., in] and w [out, in]"""
    y = _linear.apply(x.reshape(-1, x.shape[-1]), w, bias, activation, alpha)
    return y.reshape(*x.shape[:-1], -1)
