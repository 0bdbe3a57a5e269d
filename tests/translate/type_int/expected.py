# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    s,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    y = x * x + s
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, y - x // 3)
