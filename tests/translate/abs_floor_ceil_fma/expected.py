# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


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
    tl.debug_barrier()
    tl.store(Y + r, tl.abs(x))
    tl.store(Y + T + r, tl.abs(x))
    tl.store(Y + 2 * T + r, tl.floor(x))
    tl.store(Y + 3 * T + r, tl.ceil(x))
    tl.store(Y + 4 * T + r, tl.fma(x, z, x))
    tl.store(Y + 5 * T + r, tl.abs(r - 5).to(Y.dtype.element_ty))
