# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    X,  # half*
):
    r = tl.arange(0, 4 * 4)
    tl.store(Y + r, 2 + 10 * 1 + 100 * 8 + 1000 * 8)
