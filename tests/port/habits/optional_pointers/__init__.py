"""Tensors that may be absent: under #ifdef, or tested as pointers."""
import torch
import triton

src = """
__global__ void linear(float *Y, float *X, float *B, float *S, int M, int N) {
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    int m = get_program_id(0);
    bool inside[TN] = n < N;
    float x[TN] = inside ? *(X + m * N + n) : 0;
#ifdef HAS_SCALE
    x = x * *(S + m);
#endif
    bool has[TN] = B;
    float b[TN] = (has && inside) ? *(B + n) : 0;
    *?(inside)(Y + m * N + n) = x + b;
}
"""
_kernels = {}


def linear(x, bias=None, scale=None):
    M, N = x.shape
    y = torch.empty_like(x)
    key = scale is not None
    if key not in _kernels:
        defines = {'TN': 32}
        if scale is not None:
            defines.update(HAS_SCALE=1)
        _kernels[key] = triton.kernel(src, defines=defines)
    bias = bias.contiguous() if bias is not None else None
    _kernels[key](y, x, bias, scale, M, N, grid=lambda opt: [M, triton.cdiv(N, opt.TN)])
    return y


def main(seed, m=3, n=40):
    torch.manual_seed(seed)
    x, bias, scale = (torch.randint(-9, 9, shape).float() for shape in ((m, n), (n,), (m,)))
    return [linear(x), linear(x, bias), linear(x, scale=scale), linear(x, bias, scale), linear(x, torch.empty(0))]
