from torch import *
from .sources import *
import triton

double_kernel = triton.kernel(double_src, defines=defaults)
shift_kernel = triton.kernel(shift_src, defines=defaults)


def doubled(x):
    y = empty_like(x)
    double_kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def shifted(x):
    y = empty_like(x)
    shift_kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y
