# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Z,  # half*
    Y,  # double*
    f,
    d: tl.float64,
    n,
    b: tl.int1,
    l: tl.int64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (x * f).to(Y.dtype.element_ty))
    tl.store(Y + T + r, x * d)
    tl.store(Y + 2 * T + r, (x * n).to(Y.dtype.element_ty))
    tl.store(Y + 3 * T + r, (x + b).to(Y.dtype.element_ty))
    tl.store(Y + 4 * T + r, (x.to(tl.float32) * z).to(Y.dtype.element_ty))
    tl.store(Y + 5 * T + r, (x * l).to(Y.dtype.element_ty))
