# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    X,  # half*
):
    r = tl.arange(0, 16)
    tl.store(
        Y + r,
        (
            2
            + tl.full((), 10, tl.uint64) * 1
            + tl.full((), 100, tl.uint64) * 8
            + tl.full((), 1000, tl.uint64) * 8
        ).to(Y.dtype.element_ty),
    )
