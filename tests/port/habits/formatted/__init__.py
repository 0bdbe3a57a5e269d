"""The source is a template for str.format, so its braces are doubled."""
import torch
import triton

_unary = """
__global__ void unary(float *Y, float *X, int n) {{
    int i[{block}] = get_program_id(0) * {block} + 0 ... {block};
    float x[{block}] = i < n ? *(X + i) : 0;
    {body}
    *?(i < n)(Y + i) = y;
}}
"""
BLOCK = 32
bodies = {
    'square': 'float y[{0}] = x * x;'.format(BLOCK),
    'relu': 'float y[{0}] = x > 0 ? x : 0;'.format(BLOCK),
}


def unary(op, x):
    y = torch.empty_like(x)
    kernel = triton.kernel(_unary.format(block=BLOCK, body=bodies[op]))
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), BLOCK)])
    return y


def square(x):
    return unary('square', x)


def relu(x):
    return unary('relu', x)


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [square(x), relu(x)]
