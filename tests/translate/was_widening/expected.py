# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # char*
    Y,  # long*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    y = x.to(tl.int64)
    b = r * 2 != 0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, y)
    tl.store(Y + T + r, b.to(Y.dtype.element_ty))
    tl.store(Y + 2 * T + r, tl.cast(True & (n != 0), tl.int64))
    tl.store(Y + 3 * T + r, ((r & 4 != 0) & (r & 8 != 0)).to(Y.dtype.element_ty))
