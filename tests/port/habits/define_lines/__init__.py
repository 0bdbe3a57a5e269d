"""Defines are lines in front of the source; its kernel has one letter."""
import torch
import triton

body = """
__global__ void f(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
}
"""


def launch(x, size):
    y = torch.empty_like(x)
    kernel = triton.kernel('#define TN %d\n' % size + body)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), size)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [launch(x, 16), launch(x, 32)]
