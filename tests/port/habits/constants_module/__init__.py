"""Defines are constants of another module, and differ by dtype."""
import torch
import triton
from . import config
from .config import TILES as tiles

src = """
#define HALF_TN (TN / 2)
__global__ void pairs(TYPE *Y, TYPE *X, int n) {
    int i[HALF_TN] = get_program_id(0) * HALF_TN + 0 ... HALF_TN;
    bool inside[HALF_TN] = 2 * i < n;
    TYPE even[HALF_TN] = inside ? *(X + 2 * i) : 0;
    TYPE odd[HALF_TN] = 2 * i + 1 < n ? *(X + 2 * i + 1) : 0;
#if SIGN < 0
    *?(inside)(Y + i) = even - odd;
#else
    *?(inside)(Y + i) = even + odd;
#endif
}
"""


def pairs(x, sign=config.PLUS):
    n = x.numel()
    y = torch.empty((n + 1) // 2, dtype=x.dtype)
    kernel = triton.kernel(src, defines={'TYPE': x.dtype, 'TN': tiles[x.dtype], 'SIGN': sign},
                           num_warps=[config.NUM_WARPS])
    kernel(y, x, n, grid=lambda opt: [triton.cdiv(n, opt.TN)])
    return y


def main(seed, n=41):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,))
    return [pairs(x.float()), pairs(x.half(), config.MINUS), pairs(x.float(), sign=config.MINUS)]
