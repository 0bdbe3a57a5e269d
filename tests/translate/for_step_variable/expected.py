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
    step = n - 3
    i = tl.full((), 0, tl.int32)
    while i < n * 2:
        s = s * 10 + i
        i += step
    tl.store(Y, s)
    s = tl.full((), 0, tl.int32)
    i = n
    while i > m:
        s = s * 10 + i + 5
        i += m
    tl.store(Y + 1, s)
    s = tl.full((), 0, tl.int32)
    i = n
    while i > 0:
        s = s * 10 + i
        i -= step
    tl.store(Y + 2, s)
