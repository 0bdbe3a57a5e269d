"""A flag is False in one place, and 0 in another."""
import torch
import triton

src = """
__global__ void steps(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    float x[TN] = i < n ? *(X + i) : 0;
#if UP
    x = x + 1;
#endif
    *?(i < n)(Y + i) = x;
}
"""


def step(x, up=False):
    y = torch.empty_like(x)
    kernel = triton.kernel(src, defines={'TN': 32, 'UP': up})
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [step(x), step(x, 0), step(x, True)]
