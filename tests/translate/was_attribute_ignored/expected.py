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
    y = tl.load(Y + r)
    tl.debug_barrier()  # Y, read above, may overlap X, written below
    tl.store(X + r, y * 2.0)
