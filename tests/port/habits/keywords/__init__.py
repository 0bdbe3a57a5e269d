"""Names of the source are words of Python, and of what a port uses."""
import torch
import triton

src = """
__global__ void lambda(float *in, float *is, int None, int tl) {
    int class[TN] = get_program_id(0) * TN + 0 ... TN;
    float def[TN] = class < None ? *(is + class) : 0;
    float triton[TN] = def + tl;
    *?(class < None)(in + class) = triton;
}
"""
kernel = triton.kernel(src, defines={'TN': 32})


def shifted(x, by):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), by, grid=lambda opt: (triton.cdiv(x.numel(), opt.TN),))
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    return [shifted(torch.randn(n), 3)]
