# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # char*
    Y,  # char*
    s: tl.int8,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    y = (x * x.to(tl.int32) + s).to(tl.int8)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (y - x.to(tl.int32) // 3).to(Y.dtype.element_ty))
