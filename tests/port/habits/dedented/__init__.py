"""The source is indented as the code around it."""
import textwrap
import torch
import triton


def make():
    return triton.kernel(textwrap.dedent("""
        __global__ void twice(float *Y, float *X, int n) {
            int i[TN] = get_program_id(0) * TN + 0 ... TN;
            *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
        }
    """), defines={'TN': 32})


kernel = make()


def launch(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    return [launch(kernel, torch.randn(n))]
