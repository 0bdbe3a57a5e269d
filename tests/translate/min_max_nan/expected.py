# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Z,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.where(x < z, x, z))
    tl.store(Y + T + r, tl.where(x > z, x, z))
    tl.store(Y + 2 * T + r, tl.where(x > 0.0, x, 0.0))
    tl.store(Y + 3 * T + r, tl.where(0.0 < x, 0.0, x))
    tl.store(Y + 4 * T + r, tl.where(x > n, x, n))
