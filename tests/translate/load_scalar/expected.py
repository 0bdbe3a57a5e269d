# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
):
    p = X + n
    a = tl.load(p)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, a)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.load(X) + tl.load(p + 1) * 2.0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value)
