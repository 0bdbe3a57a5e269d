"""Sizes are computed with NumPy, and become defines as they are."""
import numpy as np
import torch
import triton

src = """
__global__ void times(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = FACTOR * *?(i < n)(X + i);
}
"""
sizes = 2 ** np.arange(4, 7)


def times(x, factor):
    y = torch.empty_like(x)
    size = min(sizes[-1], sizes[np.searchsorted(sizes, x.numel()) % 3])
    kernel = triton.kernel(src, defines={'TN': size, 'FACTOR': factor}, num_warps=[2])
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,)).float()
    return [times(x, np.int32(3)), times(x, np.prod([2, 2])), times(x, -1)]
