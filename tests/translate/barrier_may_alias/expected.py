# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, r.to(Y.dtype.element_ty))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.load(X + T - 1 - r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + T + r, value)
