# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
    n,
):
    tl.store(Y, tl.where(n != 0, tl.full((), 0.0, tl.float64), 0.1))
    tl.store(Y + 1, tl.where(n != 0, 0.0, 0.1).to(Y.dtype.element_ty))
    tl.store(Y + 2, tl.where(0.1 < 0.2, 0.1, 0.2).to(Y.dtype.element_ty))
    tl.store(Y + 3, (-1.0 * tl.where(n != 0, 0.1, 0.2)).to(Y.dtype.element_ty))
