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
        if i % 2 == 0:
            s = s * 10 + i + 1
    tl.store(Y, s)
    k = tl.full((), 0, tl.int32)
    while k < n:
        k += 1
        if k != 2:
            s += k
    tl.store(Y + 1, s)
