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
        for j in range(i, n, 2):
            s += i * j
        s -= 1
        for j in range(n, i, -1):
            for k in range(2):
                s += 1
    tl.store(Y, s)
