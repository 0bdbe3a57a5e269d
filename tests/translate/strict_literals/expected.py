# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Z,  # half*
    Y,  # double*
    f,
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x.to(tl.float64) * 0.1)
    tl.store(Y + T + r, (x.to(tl.float32) * 0.1).to(Y.dtype.element_ty))
    tl.store(Y + 2 * T + r, tl.cast(n, tl.float64) * 0.1)
    tl.store(Y + 3 * T + r, f.to(tl.float64) * 0.5 + 0.1)
