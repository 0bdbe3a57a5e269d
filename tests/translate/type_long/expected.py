# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # long*
    Y,  # long*
    s: tl.int64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x * 3 + s - x // 7)
