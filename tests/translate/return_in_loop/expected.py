# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
):
    returned = False
    i = tl.full((), 0, tl.int32)
    running = True
    while running & (i < n):
        # Y, written by an earlier iteration, may overlap X, read below
        tl.debug_barrier()
        if tl.load(X + i) == 0:
            tl.debug_barrier()  # X, read above, may overlap Y, written below
            tl.store(Y, i)
            returned = True
            running = False
        else:
            i += 1
    if returned:
        return
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, -1)
