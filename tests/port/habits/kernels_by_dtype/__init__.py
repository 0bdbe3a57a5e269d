"""A kernel for each dtype, made in a dictionary comprehension when the module is imported."""
import torch
import triton

src = """
__global__ void axpy(TYPE *Z, TYPE *X, TYPE *Y, int alpha, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    bool inside[TN] = i < n;
    TYPE x[TN] = inside ? *(X + i) : 0;
    TYPE y[TN] = inside ? *(Y + i) : 0;
    *?(inside)(Z + i) = alpha * x + y;
}
"""

TYPES = [torch.float32, torch.float16, torch.int32]
kernels = {t: triton.kernel(src, defines={'TYPE': t, 'TN': 64 if t == torch.float16 else 32}) for t in TYPES}


def axpy(alpha, x, y):
    z = torch.empty_like(x)
    n = x.numel()
    kernels[x.dtype](z, x, y, alpha, n, grid=lambda opt: [triton.cdiv(n, opt.d('TN'))])
    return z


def main(seed, n=40):
    torch.manual_seed(seed)
    x, y = torch.randint(-99, 99, (n,)), torch.randint(-99, 99, (n,))
    return [axpy(3, x.to(t), y.to(t)) for t in TYPES]
