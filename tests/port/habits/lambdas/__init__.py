"""Launches are lambdas: in a table, and made by a function."""
import torch
import triton

src = """
__global__ void clamp(float *Y, float *X, float low, float high, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    float x[TN] = i < n ? *(X + i) : 0;
    *?(i < n)(Y + i) = min(max(x, low), high);
}
"""
kernel = triton.kernel(src, defines={'TN': 32})
grid = lambda n: lambda opt: [triton.cdiv(n, opt.TN)]
launch = lambda y, x, low, high: (kernel(y, x, low, high, x.numel(), grid=grid(x.numel())), y)[1]
table = {
    'relu6': lambda x: launch(torch.empty_like(x), x, 0.0, 6.0),
    'unit': lambda x: launch(torch.empty_like(x), x, -1.0, 1.0),
}


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n) * 4
    return [f(x) for f in table.values()]
