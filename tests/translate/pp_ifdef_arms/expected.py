# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def mm(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    y = tl.load(X + r) * n
    y += 1.0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, y)
