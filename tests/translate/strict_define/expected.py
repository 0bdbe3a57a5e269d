# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
    n,
    D: tl.constexpr,
):
    tl.store(Y, tl.cast(n, tl.float64) - D)
    tl.store(Y + 1, tl.full((), D - 1.0, tl.float64))
    tl.store(
        Y + 2, tl.where(n != 0, tl.full((), D, tl.float64), tl.cast(n, tl.float64))
    )
    tl.store(Y + 3, tl.full((), D, tl.float64))
