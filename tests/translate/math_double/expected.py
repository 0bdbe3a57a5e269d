# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # double*
    Z,  # double*
    Y,  # double*
    d: tl.float64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.exp(x))
    tl.store(Y + T + r, tl.log(x))
    tl.store(Y + 2 * T + r, tl.sqrt(x))
    tl.store(Y + 3 * T + r, tl.sin(z))
    tl.store(Y + 4 * T + r, tl.cos(z))
    tl.store(Y + 5 * T + r, tl.exp(d))
