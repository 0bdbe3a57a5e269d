"""Numbers of Python for parameters that are bool."""
import torch
import triton

src = """
__global__ void choose(int *Y, int *X, int n, bool negative, bool twice) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    int x[TN] = *?(i < n)(X + i);
    *?(i < n)(Y + i) = (negative ? 0 - x : x) * (twice + 1) + negative;
}
"""
NEGATIVE, TWICE = 2, 4


def choose(x, flags):
    y = torch.empty_like(x)
    n = x.numel()
    n = n // 2
    n = x.numel() - n
    kernel = triton.kernel(src, defines={'TN': 32}, num_warps=4)
    kernel(y.data_ptr(), x.data_ptr(), 2 * n, flags & NEGATIVE, flags & TWICE, grid=[triton.cdiv(x.numel(), 32)])
    return y[:n]


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (2 * n,), dtype=torch.int32)
    return [choose(x, flags) for flags in (0, NEGATIVE, TWICE, NEGATIVE | TWICE)]
