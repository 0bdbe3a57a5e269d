"""Constant memory whose size is filled in to the source: a run shows one size, later calls need others."""
import torch
import triton

src = """
char __constant__* table = calloc(%d);
__global__ void scaled(float *Y, float *X, int N) {
    int i[128] = 0 ... 128;
    float __constant__* t[128] = ((float __constant__*) table) + i;
    *?(i < N) (Y + i) = *?(i < N) (X + i) * *?(i < N) t;
}
"""


def main(seed, n=16):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,)).float()
    y = torch.zeros_like(x)
    kernel = triton.kernel(src % (4 * n))
    kernel.set_constant("table", torch.arange(float(n)))
    kernel(y, x, n, grid=(1,))
    return [y]
