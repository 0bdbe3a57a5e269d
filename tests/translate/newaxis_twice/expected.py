# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    i = tl.arange(0, 4)
    j = tl.arange(0, 8)
    tl.store(Y + i[:, None] * 8 + j[None, :], i[:, None] + j[None, :])
