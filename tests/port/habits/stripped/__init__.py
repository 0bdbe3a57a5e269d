"""The source is a string without the lines at its ends."""
import torch
import triton

src = """
__global__ void twice(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
}
""".strip()
kernel = triton.kernel(src, defines={'TN': 32})


def launch(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    return [launch(kernel, torch.randn(n))]
