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
        s += i
    for i in range(n, 0, -1):
        s += i * 10
    i_1 = tl.full((), 0, tl.int64)
    while i_1 < 2:
        s = (s + i_1).to(tl.int32)
        i_1 += 1
    i_2 = tl.full((), 0.0, tl.float32)
    while i_2 < 1.0:
        s = (s + i_2 * 4.0).to(tl.int32)
        i_2 += 0.25
    tl.store(Y, s)
