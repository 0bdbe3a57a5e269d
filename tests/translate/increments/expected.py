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
    a += 1
    a += 1
    m -= 1
    m -= 1
    tl.store(Y, a)
    tl.store(Y + 1, m)
