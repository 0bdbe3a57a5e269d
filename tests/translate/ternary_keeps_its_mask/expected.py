# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
):
    r = tl.arange(0, 8)
    y = tl.where(r < n, tl.load(X + r, mask=(r < n) & (r > 2), other=0.0), 7.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, y)
