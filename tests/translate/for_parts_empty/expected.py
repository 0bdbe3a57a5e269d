# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    i = 1
    while i < 9:
        i += n
    tl.store(Y, i)
    i = 0
    while i < 9:
        i += n
    tl.store(Y + 1, i)
    while i > m:
        tl.store(Y + 2, i)
        i -= 1
