# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    tl.store(Y, -1)
    tl.store(Y + 1, -128 + 127)
