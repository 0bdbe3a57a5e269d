# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    F,  # float*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r).to(tl.float32)
    tl.debug_barrier()  # X, read above, may overlap F, written below
    tl.store(F + r, x)
    tl.debug_barrier()  # F, written above, may overlap Y, written below
    tl.store(Y + r, (x / 2.0).to(Y.dtype.element_ty))
