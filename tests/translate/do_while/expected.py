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
    i = tl.full((), -1, tl.int32)
    running = True
    while running:
        s += 1
        i += 1
        running = i < 3
    tl.store(Y, s)
    running = True
    while running:
        s += 100
        running = m > 0
    tl.store(Y + 1, s)
    running = True
    while running:
        d = s % n
        s -= d + 1
        running = s > 50
    tl.store(Y + 2, s)
