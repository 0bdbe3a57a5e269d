"""The source is an f-string; a part of it is made by a loop."""
import torch
import triton

DEPTH = 3


def horner(degree):
    names = [f'c{k}' for k in range(degree)]
    params = ', '.join(f'float {name}' for name in names)
    steps = '\n    '.join(f'y = y * x + {name};' for name in names)
    return f"""
__global__ void polynomial(float *Y, float *X, {params}, int n) {{
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    float x[TN] = i < n ? *(X + i) : 0;
    float y[TN] = 0;
    {steps}
    *?(i < n)(Y + i) = y;
}}
"""


kernel = triton.kernel(horner(DEPTH), defines={'TN': 32})


def polynomial(x, c):
    y = torch.empty_like(x)
    kernel(y, x, *c, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    return [polynomial(torch.randint(-9, 9, (n,)).float(), [1.0, -2.0, 3.0])]
