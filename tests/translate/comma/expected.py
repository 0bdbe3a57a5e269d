# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    s = 0
    j = 0
    i = 0
    j = n
    while i < j:
        s += j * 10 + i
        i += 1
        j -= 1
    tl.store(Y, s)
    i = 1
    j = 2
    tl.store(Y + 1, i + j)
