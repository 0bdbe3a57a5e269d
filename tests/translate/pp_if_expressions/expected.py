# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    tl.store(Y, 2)
    tl.store(Y + 1, 8)
    tl.store(Y + 2, 64)
