# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    L,  # int*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    y = tl.where(r < n, tl.exp(-tl.load(X + r, mask=r < n, other=0.0)) + 1.0, 0.0)
    z = tl.load(X + tl.load(L + r, mask=r < n, other=0), mask=r < n, other=-1.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, y)
    tl.store(Y + T + r, z)
