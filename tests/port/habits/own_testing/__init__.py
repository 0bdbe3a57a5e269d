"""The package has a module of the name of a port's triton.testing."""
import torch
import triton
from triton.testing import allclose
from ._testing import compare

kernel = triton.kernel("""
__global__ void twice(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
}
""", defines={'TN': 32})


def launch(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    y = launch(kernel, x)
    return [y, torch.tensor([compare(allclose, y, x + x)])]
