"""The kernel's name is a define, as a profiler shows it."""
import torch
import triton

src = """
__global__ void NAME(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
#ifdef DOWN
    *?(i < n)(Y + i) = *?(i < n)(X + i) - 1;
#else
    *?(i < n)(Y + i) = *?(i < n)(X + i) + 1;
#endif
}
"""


def step(name, x, **flags):
    y = torch.empty_like(x)
    kernel = triton.kernel(src, defines=dict(NAME=name, TN=32, **flags))
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def up(x):
    return step('step_up', x)


def down(x):
    return step('step_down', x, DOWN=1)


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [up(x), down(x)]
