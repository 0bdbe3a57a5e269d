# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Z,  # half*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (x * z).to(Y.dtype.element_ty))
    tl.store(Y + T + r, (x - z).to(Y.dtype.element_ty))
    tl.store(Y + 2 * T + r, (x / z).to(tl.float16).to(Y.dtype.element_ty))
    tl.store(Y + 3 * T + r, (x * z * z).to(Y.dtype.element_ty))
    tl.store(Y + 4 * T + r, (-1.0 * x + n).to(Y.dtype.element_ty))
    tl.store(
        Y + 5 * T + r,
        (x / tl.cast(n, tl.float16)).to(tl.float16).to(Y.dtype.element_ty),
    )
