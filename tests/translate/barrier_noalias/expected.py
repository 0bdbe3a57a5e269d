# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, r.to(Y.dtype.element_ty))
    x = tl.load(X + T - 1 - r)
    tl.store(Y + T + r, x)
