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
    i = tl.full((), 0, tl.int32)
    running = True
    while running & (i < n):
        proceed = True
        if i > 2:
            s += 1
            if i == m:
                # only this one
                proceed = False
            else:
                s += 10
        elif i == 1:
            proceed = False
        if proceed:
            s += 100
            if i < 5:
                if s > m * 1000:
                    running = False
            if running:
                s += 1000
        i += 1
    tl.store(Y, s)
