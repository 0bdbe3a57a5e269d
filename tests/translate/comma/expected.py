# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    s = tl.full((), 0, tl.int32)
    j = tl.full((), 0, tl.int32)
    i = tl.full((), 0, tl.int32)
    j = n
    while i < j:
        s += j * 10 + i
        i += 1
        j -= 1
    tl.store(Y, s)
    i = tl.full((), 1, tl.int32)
    j = tl.full((), 2, tl.int32)
    tl.store(Y + 1, i + j)
