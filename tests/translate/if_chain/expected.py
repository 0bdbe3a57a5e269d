# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    y = 0
    if n > 7:
        y = 1
    elif n > 3:
        if m != 0:
            y = 2
        else:
            y = 3
    else:
        y = 4
    tl.store(Y, y)
    if n - 5 != 0:
        tl.store(Y + 1, 1)
    else:
        tl.store(Y + 1, 2)
    if True:
        tl.store(Y + 2, 3)
    if n > 100:
        pass
    if n != 0:
        pass
    else:
        tl.store(Y + 2, 9)
    if (n != 0) & (m < 0) | (y != 0):
        tl.store(Y + 3, 5)
