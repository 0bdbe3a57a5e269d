"""Sources have a common header, which stands in a module of its own."""
import torch
import triton
from .header import HEADER, FOOTER

MUL = HEADER + """
__global__ void mul(float *Z, float *X, float *Y, int n) {
    OFFSETS;
    *?(inside)(Z + i) = LOAD(X) * LOAD(Y);
""" + FOOTER
ADD = (HEADER +
       '__global__ void add(float *Z, float *X, float *Y, int n) {\n'
       '    OFFSETS;\n'
       '    *?(inside)(Z + i) = LOAD(X) + LOAD(Y);\n'
       + FOOTER)


def binary(src, x, y):
    z = torch.empty_like(x)
    kernel = triton.kernel(src, defines={'TN': 32})
    kernel(z, x, y, z.numel(), grid=lambda opt: [triton.cdiv(z.numel(), opt.TN)])
    return z


def main(seed, n=40):
    torch.manual_seed(seed)
    x, y = torch.randn(n), torch.randn(n)
    return [binary(MUL, x, y), binary(ADD, x, y)]
