# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
):
    tl.store(Y, tl.full((), 0.5 + 1.0, tl.float64))
    tl.store(Y + 1, tl.full((), 1000.0, tl.float64))
    tl.store(Y + 2, tl.full((), 0.25, tl.float64))
    tl.store(Y + 3, tl.full((), 3.0, tl.float64))
    tl.store(Y + 4, tl.full((), 1.5, tl.float64))
    tl.store(Y + 5, tl.full((), 100.0, tl.float64))
