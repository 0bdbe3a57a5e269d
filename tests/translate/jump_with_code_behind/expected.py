# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
):
    sum = tl.full((), 0, tl.int32)
    i = tl.full((), 0, tl.int32)
    running = True
    while running & (i < n):
        if i == 3:
            running = False
        elif i != 1:
            sum += i
        i += 1
    tl.store(Y, sum)
    return
    tl.store(Y, -1)
