# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,  # multiple of 32
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, (r + n).to(Y.dtype.element_ty))
