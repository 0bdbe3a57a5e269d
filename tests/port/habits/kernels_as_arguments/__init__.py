"""Kernels are made here and launched by a function of another module."""
import torch
import triton
from .launch import elementwise, in_turn

negate = triton.kernel("""
__global__ void negate(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = -*?(i < n)(X + i);
}
""", defines={'TN': 32})
halve = triton.kernel("""
__global__ void halve(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 0.5 * *?(i < n)(X + i);
}
""", defines={'TN': 16})


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [elementwise(negate, x), elementwise(halve, x), in_turn([negate, halve, halve], x)]
