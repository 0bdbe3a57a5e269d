"""The names of triton come by import *."""
import torch
from triton import *

negate = kernel("""
__global__ void negate(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = -*?(i < n)(X + i);
}
""", defines={'TN': 32})


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    y = torch.empty_like(x)
    negate(y, x, n, grid=lambda opt: [cdiv(n, opt.TN)])
    return [y]
