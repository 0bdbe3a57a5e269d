# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Y,  # half*
    T: tl.constexpr,
    SCALE: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.load(X + r) * SCALE
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
