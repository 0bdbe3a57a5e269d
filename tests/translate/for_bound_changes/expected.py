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
    end = n
    i = 0
    while i < end:
        s += i
        if i == 2:
            end = 4
        i += 1
    tl.store(Y, s)
    s = 0
    i = 0
    while i < n:
        i += 1
        s = s * 10 + i
        i += 1
    tl.store(Y + 1, s)
