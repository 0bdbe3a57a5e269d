# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    u: tl.uint32,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.load(X + r) >> 4
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
    tl.store(Y + T, (u >> 4).to(Y.dtype.element_ty))
    tl.store(Y + T + 1, -16 >> 2)
