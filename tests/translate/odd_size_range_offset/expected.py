# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    in_6 = tl.arange(0, 8) < 6
    r = tl.arange(0, 8) + 5
    tl.store(Y + r, r * r, mask=in_6)
    tl.store(Y + 15, tl.sum(tl.where(in_6, r, 0), axis=0))
