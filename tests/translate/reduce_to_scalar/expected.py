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
    x = tl.load(X + r)
    s = tl.sum(x, axis=0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, s)
    tl.store(Y + 1, tl.max(x, axis=0) - tl.min(x, axis=0))
    tl.store(Y + 2 + r, x - s)
