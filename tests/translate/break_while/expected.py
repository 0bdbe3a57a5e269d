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
    running = True
    while running:
        s += 1
        if s >= n:
            running = False
        else:
            tl.store(Y + 1, s)
    tl.store(Y, s)
