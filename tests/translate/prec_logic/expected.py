# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    a,
    b,
    c,
):
    tl.store(Y, tl.cast((a != 0) | (b != 0) & False, tl.int32))
    tl.store(Y + 1, tl.cast((a == 0) == 0, tl.int32))
    tl.store(Y + 2, tl.cast(a != 0, tl.int32))
    tl.store(Y + 3, tl.where(a > b, 1, tl.where(b > c, 2, 3)))
    tl.store(Y + 4, tl.where(a < b, 1, tl.where(b < c, 2, 3)))
    tl.store(Y + 5, tl.where((a == 0) | (c != 0), 5, 6))
    tl.store(Y + 6, (a != 0) + tl.cast(c != 0, tl.int32))
