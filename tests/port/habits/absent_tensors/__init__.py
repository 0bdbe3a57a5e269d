"""None for a tensor whose type is a define; a default that is no entry of a table."""
import torch
import triton

src = """
__global__ void scale(TYPE *Y, TYPE *X, WEIGHT *W, float *keep, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    bool inside[TN] = i < n;
    float x[TN] = inside ? *(X + i) : LEAST;
#ifdef WEIGHTED
    float w[TN] = inside ? *(W + i) : 0;
    x = x * w;
#endif
    float k[TN] = inside ? *(keep + i) : 0;
    *?(inside)(Y + i) = k != 0 ? x : 0;
}
"""


def scale(x, keep, w=None):
    least = {torch.float16: '-F16_INFINITY'}.get(x.dtype, '-F32_INFINITY')
    defines = {'TYPE': x.dtype, 'WEIGHT': x.dtype if w is None else w.dtype, 'TN': 32, 'LEAST': least}
    if w is not None:
        defines['WEIGHTED'] = True
    y = torch.empty_like(x)
    kernel = triton.kernel(src, defines=defines)
    kernel(y, x, w, keep, x.numel(), grid=lambda opt: (triton.cdiv(x.numel(), opt.d('TN')),))
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x, w = torch.randint(-9, 9, (2, n)).float()
    keep = torch.randint(0, 2, (n,)).float()
    return [scale(x, keep), scale(x.half(), keep), scale(x, keep, w), scale(x.half(), keep, w.half())]
