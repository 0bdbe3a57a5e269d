"""The body of a kernel is a list of lines, to which flags add; the kernels are kept by lru_cache."""
from functools import lru_cache
import torch
import triton


def source(bias, relu):
    lines = ['__global__ void epilogue(float *Y, float *X, float *B, int N) {']
    lines += ['    int n[TN] = 0 ... TN;', '    int m = get_program_id(0);']
    lines.append('    float x[TN] = n < N ? *(X + m * N + n) : 0;')
    if bias:
        lines.append('    x += n < N ? *(B + n) : 0;')
    if relu:
        lines.append('    x = x > 0 ? x : 0;')
    lines += ['    *?(n < N)(Y + m * N + n) = x;', '}']
    return '\n'.join(lines)


@lru_cache(maxsize=None)
def kernel_for(bias, relu, size):
    return triton.kernel(source(bias, relu), defines={'TN': size}, num_warps=[1])


def epilogue(x, bias=None, relu=False):
    y = torch.empty_like(x)
    kernel = kernel_for(bias is not None, relu, triton.next_power_of_2(x.shape[1]))
    kernel(y, x, bias, x.shape[1], grid=lambda opt: [x.shape[0]])
    return y


def main(seed, m=3, n=20):
    torch.manual_seed(seed)
    x, bias = torch.randn(m, n), torch.randn(n)
    return [epilogue(x), epilogue(x, bias), epilogue(x, None, True), epilogue(x, bias, relu=True)]
