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
    for i in range(n):
        s = s * 10 + i
    tl.store(Y, s)
    s = tl.full((), 0, tl.int32)
    for i in range(n, 0, -1):
        s = s * 10 + i
    tl.store(Y + 1, s)
    s = tl.full((), 0, tl.int32)
    for i in range(1, n + 1, 2):
        s = s * 10 + i
    tl.store(Y + 2, s)
    s = tl.full((), 0, tl.int32)
    for i in range(8, m + 5 - 1, -3):
        s = s * 10 + i
    tl.store(Y + 3, s)
    s = tl.full((), 0, tl.int32)
    i = tl.full((), 0, tl.int32)
    while i != 6:
        s = s * 10 + i
        i += 2
    tl.store(Y + 4, s)
    s = tl.full((), 0, tl.int32)
    i = tl.full((), 1, tl.int32)
    while i < 100:
        s = s * 10 + i
        i *= n
    tl.store(Y + 5, s)
    s = tl.full((), 0, tl.int32)
    i = tl.full((), 100, tl.int32)
    while i != 0:
        s += 1
        i //= 3
    tl.store(Y + 6, s)
    s = tl.full((), 0, tl.int32)
    for i in range(3, 7):
        s = s * 10 + i
    tl.store(Y + 7, s)
