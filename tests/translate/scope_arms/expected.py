# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    off = tl.where(tl.load(X + r) > 0.0, n, 0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (off + r).to(Y.dtype.element_ty))
