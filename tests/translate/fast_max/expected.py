# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    N,  # int*
    Z,  # float*
):
    r = tl.arange(0, 16)
    x = tl.load(X + r)
    y = tl.load(Y + r)
    tl.debug_barrier()  # X, read above, may overlap Z, written below
    # a NaN is left out, where C keeps it in one of the two places
    tl.store(Z + r, tl.maximum(x, y))
    tl.store(Z + 16 + r, tl.minimum(x, y))
    tl.debug_barrier()  # Z, written above, may overlap N, read below
    tl.store(N + r, tl.maximum(tl.load(N + r), 3))
