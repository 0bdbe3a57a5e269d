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
    tl.store(Y + r, x)
    tl.store(Y + T + r, -1.0 * x)
    tl.store(Y + 2 * T + r, -1.0 * (-1.0 * x))
    tl.store(Y + 3 * T + r, -1.0 * x * (-1.0 * z))
    tl.store(Y + 4 * T + r, ~n * x)
    tl.store(Y + 5 * T + r, (n == 0) + x)
    tl.store(Y + 6 * T + r, -n + z)
