# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Z,  # half*
    Y,  # double*
    d: tl.float64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    z = tl.load(Z + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (x.to(tl.float32) * 0.1).to(Y.dtype.element_ty))
    tl.store(Y + T + r, d * 0.10000000149011612)
