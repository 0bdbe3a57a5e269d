# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + r
    x = tl.load(p, mask=r < n, other=0.0)
    y = tl.load(X + r, mask=r >= n, other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x * 2.0 + y)
