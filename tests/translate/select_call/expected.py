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
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.where(x > 0.0, x, n))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.where(r < n, tl.load(X + r), 0.5)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + T + r, value)
