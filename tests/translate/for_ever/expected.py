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
    running = True
    while running:
        i += 1
        if i == 4:
            running = False
    tl.store(Y, i)
    k = 0
    k = 3
    running = True
    while running:
        if k > n:
            running = False
        else:
            k += 1
    tl.store(Y + 1, k)
