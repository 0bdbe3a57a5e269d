# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
):
    m = n - 4
    if m != 0:
        tl.store(Y, m)
    running = True
    while running:
        tl.debug_barrier()  # Y, written above, may overlap X, read below
        m = tl.load(X)
        if m == 0:
            running = False
        else:
            value = tl.load(Y + 1) + m
            tl.debug_barrier()  # X, read above, may overlap Y, written below
            tl.store(Y + 1, value)
            X += 1
