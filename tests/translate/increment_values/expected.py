# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    a = n
    b = a
    a += 1
    a -= 1
    c = a
    tl.store(Y, b)
    tl.store(Y + 1, c)
    tl.store(Y + 2, a + m)
    m -= 1
    tl.store(Y + 3, m)
