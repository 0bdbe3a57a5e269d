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
    i = tl.full((), 0, tl.uint32)
    while i < n:
        s = (s + i).to(tl.int32)
        i += 1
    tl.store(Y, s)
    i_1 = tl.full((), 1 << 33, tl.int64)
    while i_1 > 1:
        s += 1
        i_1 >>= 8
    tl.store(Y + 1, s)
    c = tl.full((), 120, tl.int8)
    while c > 0:
        s += 1
        c = (c.to(tl.int32) + 1).to(tl.int8)
    tl.store(Y + 2, s)
    u = tl.full((), 3, tl.uint32)
    while u != 4294967295:
        s += 1
        u -= 1
    tl.store(Y + 3, s)
