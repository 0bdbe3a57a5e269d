# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    i = 0
    while i < n:
        i += 2
    tl.store(Y, i)
    j = 9
    while j > n:
        tl.store(Y + 1, j)
        j -= 1
    tl.store(Y + 2, j)
    i = 3
    while i < m:
        tl.store(Y, 99)
        i += 1
    tl.store(Y + 3, i)
