# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # long*
    Z,  # long*
    Y,  # long*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x * z)
    tl.store(Y + T + r, x + n * n)
    tl.store(Y + 2 * T + r, x // tl.where(z != 0, z, 1))
    tl.store(Y + 3 * T + r, x % tl.where(z != 0, z, 1))
    tl.store(Y + 4 * T + r, x >> 33)
    tl.store(Y + 5 * T + r, x << 3)
    tl.store(Y + 6 * T + r, n * z)
    tl.store(Y + 7 * T + r, tl.cast(n, tl.int64) * n)
    tl.store(Y + 8 * T + r, x & n)
