# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    y = tl.where(r < n, x, 0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x)
    tl.store(Y + T + r, y)
