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
    i = 0
    running = True
    while running & (i < 100):
        if i > n:
            running = False
        else:
            s += i
            i += 1
    tl.store(Y, s)
    tl.store(Y + 1, i)
