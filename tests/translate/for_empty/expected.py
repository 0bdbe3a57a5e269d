# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    s = 7
    for i in range(m):
        s = 0
    tl.store(Y, s)
    for i in range(n):
        pass
    for i in range(n):
        pass
    a = n
    while a > 0:
        a -= 2
    tl.store(Y + 1, a)
