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
    for i in range(3):
        j = tl.full((), 0, tl.int32)
        running = True
        while running & (j < 3):
            if j > i:
                running = False
            elif j != 1:
                s += 100
            j += 1
        s += 1
    tl.store(Y, s)
