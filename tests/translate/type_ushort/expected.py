# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # unsigned short*
    Y,  # unsigned short*
    s: tl.uint16,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    y = (x * x.to(tl.int32) + s).to(tl.uint16)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, (y - x.to(tl.int32) // 3).to(Y.dtype.element_ty))
