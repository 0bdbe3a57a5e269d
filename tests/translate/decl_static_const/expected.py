# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    r = tl.arange(0, 16)
    value = tl.load(X + r) * 4
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
