# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    how,
):
    r = tl.arange(0, 16)
    x = tl.load(X + r)
    if how == -1:
        tl.debug_barrier()  # X, read above, may overlap Y, written below
        tl.store(Y + r, x - 5)
    elif how == 0:
        tl.debug_barrier()  # X, read above, may overlap Y, written below
        tl.store(Y + r, x)
