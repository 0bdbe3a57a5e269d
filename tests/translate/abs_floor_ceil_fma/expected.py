# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def ieee_ceil(x):
    # tl.ceil takes numbers below 2^-126 for 0
    return tl.where((x > 0.0) & (x < 1.0), 1.0, tl.ceil(x))


@triton.jit
def ieee_floor(x):
    # tl.floor takes numbers above -2^-126 for 0
    return tl.where((x > -1.0) & (x < 0.0), -1.0, tl.floor(x))


@triton.jit
def f(
    X,  # float*
    Z,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, tl.abs(x))
    tl.store(Y + T + r, tl.abs(x))
    tl.store(Y + 2 * T + r, ieee_floor(x))
    tl.store(Y + 3 * T + r, ieee_ceil(x))
    tl.store(Y + 4 * T + r, tl.fma(x, z, x))
    tl.store(Y + 5 * T + r, tl.abs(r - 5).to(Y.dtype.element_ty))
