# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    B,  # float*
    Y,  # int*
):
    y = 0
    if A.to(tl.int64) != 0:
        y += 1
    if B.to(tl.int64) == 0:
        y += 2
    if (A.to(tl.int64) != 0) & (B.to(tl.int64) != 0):
        y += 4
    if A.to(tl.int64) != 0:
        y += 8
    if B.to(tl.int64) == 0:
        y += 16
    tl.store(Y, y)
