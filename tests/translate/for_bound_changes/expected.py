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
    end = n
    i = tl.full((), 0, tl.int32)
    while i < end:
        s += i
        if i == 2:
            end = 4
        i += 1
    tl.store(Y, s)
    s = tl.full((), 0, tl.int32)
    i = tl.full((), 0, tl.int32)
    while i < n:
        i += 1
        s = s * 10 + i
        i += 1
    tl.store(Y + 1, s)
