# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
):
    tl.store(Y, 0.5 + 1.0)
    tl.store(Y + 1, 1000.0)
    tl.store(Y + 2, 0.25)
    tl.store(Y + 3, 3.0)
    tl.store(Y + 4, 1.5)
    tl.store(Y + 5, 100.0)
