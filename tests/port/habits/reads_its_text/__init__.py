"""The package looks at its own source: for a cache key, and to see what it needs."""
import hashlib
import torch
import triton

SRC = """
__global__ void scale(float *Y, float *X, float a, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = a * *?(i < n)(X + i);
}
"""
KEY = hashlib.sha1(SRC.encode()).hexdigest()
kernels = {KEY: triton.kernel(SRC, defines={'TN': 32})}
needs_float = "float" in SRC
lines = len(SRC.splitlines())


def scale(x, a):
    y = torch.empty_like(x)
    kernels[KEY](y, x, a, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    return [scale(torch.randn(n), 3.0), torch.tensor([needs_float, lines == 6, len(SRC) > 100])]
