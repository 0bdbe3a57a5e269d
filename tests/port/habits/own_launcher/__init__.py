"""The package has a module of the name of a port's launcher."""
import torch
import triton
from ._triton import launch

kernel = triton.kernel("""
__global__ void twice(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
}
""", defines={'TN': 32})


def main(seed, n=40):
    torch.manual_seed(seed)
    return [launch(kernel, torch.randn(n))]
