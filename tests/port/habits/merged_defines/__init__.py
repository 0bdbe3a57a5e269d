"""Defines are a base dictionary and the keywords of the caller."""
import torch
import triton

BASE = {'TYPE': 'float', 'TN': 32, 'ACCUMULATE': 0}
src = """
__global__ void combine(TYPE *Y, TYPE *X, TYPE alpha, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    TYPE x[TN] = i < n ? *(X + i) : 0;
#ifdef ABSOLUTE
    x = x < 0 ? -x : x;
#endif
#if ACCUMULATE
    x = x * alpha + *?(i < n)(Y + i);
#else
    x = x * alpha;
#endif
    *?(i < n)(Y + i) = x;
}
"""


def combine(y, x, alpha, **options):
    kernel = triton.kernel(src, defines={**BASE, **options})
    kernel(y, x, alpha, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def absolute(y, x, **options):
    return combine(y, x, 1.0, ABSOLUTE=True, **options)


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,)).float()
    y = torch.zeros(n)
    return [combine(y.clone(), x, 2.0), combine(x.clone(), x, 0.5, ACCUMULATE=1), absolute(y.clone(), x),
            absolute(x.clone(), x, ACCUMULATE=1, TN=16)]
