# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Z,  # half*
    Y,  # double*
    d: tl.float64,
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (x * 0.1).to(Y.dtype.element_ty))
    tl.store(Y + T + r, d * 0.1)
    tl.store(Y + 2 * T + r, tl.cast(n * 0.1, tl.float64))
    tl.store(Y + 3 * T + r, tl.full((), 0.1, tl.float64))
    tl.store(Y + 4 * T + r, tl.cast(1.0 / n, tl.float64))
    tl.store(Y + 5 * T + r, (x.to(tl.float32) + 0.001 * 2.0).to(Y.dtype.element_ty))
