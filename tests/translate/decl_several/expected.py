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
    n = 2
    p = X + r
    q = Y + r
    s = 0.5
    x = tl.load(p)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(q, x * n + s)
