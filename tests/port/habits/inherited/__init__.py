"""A base class makes the kernel of the source that is an attribute of its subclass."""
import torch
import triton


class Op:
    src = None
    defines = {'TN': 32}
    _made = {}

    def __call__(self, x):
        y = torch.empty_like(x)
        cls = type(self)
        if cls not in Op._made:
            Op._made[cls] = triton.kernel(cls.src, defines=cls.defines)
        Op._made[cls](y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
        return y


class Twice(Op):
    src = """
__global__ void twice(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = 2 * *?(i < n)(X + i);
}
"""


class Scaled(Op):
    src = """
__global__ void scaled(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = FACTOR * *?(i < n)(X + i);
}
"""
    defines = dict(Op.defines, FACTOR=0.125)


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [Twice()(x), Scaled()(x)]
