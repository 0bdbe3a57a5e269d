# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    i = tl.full((), 0, tl.int32)
    while i < n:
        i += 2
    tl.store(Y, i)
    j = tl.full((), 9, tl.int32)
    while j > n:
        tl.store(Y + 1, j)
        j -= 1
    tl.store(Y + 2, j)
    i = tl.full((), 3, tl.int32)
    while i < m:
        tl.store(Y, 99)
        i += 1
    tl.store(Y + 3, i)
