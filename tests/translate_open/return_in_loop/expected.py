# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
):
    for i in range(n):
        tl.debug_barrier()
        if tl.load(X + i) == 0:
            tl.debug_barrier()
            tl.store(Y, i)
            return
    tl.debug_barrier()
    tl.store(Y, -1)
