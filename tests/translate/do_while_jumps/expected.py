# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
):
    i = tl.full((), 0, tl.int32)
    s = tl.full((), 0, tl.int32)
    running = True
    while running:
        i += 1
        if i != 2:
            if s > 20:
                running = False
            else:
                s += i
        if running:
            running = tl.load(X + i) > 0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, s)
    tl.store(Y + 1, i)
    s = -s
    # once
    tl.store(Y + 2, s)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    running = tl.load(X + i) > -9
    while running:
        i += 1
        if i >= n:
            running = False
        else:
            running = tl.load(X + i) > -9
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 3, i)
