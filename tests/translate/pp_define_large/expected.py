# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # long*
    x,
    BIG: tl.constexpr,
    LEAST: tl.constexpr,
):
    tl.store(Y, 0 - BIG)
    tl.store(Y + 1, (tl.cast(x, tl.int64) < BIG).to(Y.dtype.element_ty))
    tl.store(Y + 2, LEAST - 1)
    tl.store(Y + 3, -LEAST)
    tl.store(Y + 4, (tl.full((), 0, tl.uint32) - 4294967295).to(Y.dtype.element_ty))
    tl.store(Y + 5, tl.cast(x, tl.int64) + BIG)
    tl.store(
        Y + 6, LEAST // tl.where(tl.cast(x, tl.int64) != 0, tl.cast(x, tl.int64), 1)
    )
