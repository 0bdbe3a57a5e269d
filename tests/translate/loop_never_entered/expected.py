# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # int*
    n,
):
    r = tl.arange(0, 16)
    i = tl.full((), 3, tl.int32)
    # the first turn is the only one
    running = True
    while running:
        running = False
    # nothing is known here
    j = tl.full((), 0, tl.int8)
    while j.to(tl.int32) < n:
        if j == 4:
            tl.store(Y + r, j + i)
        j = (j.to(tl.int32) + 2).to(tl.int8)
