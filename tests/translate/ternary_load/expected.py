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
    a = tl.load(X + r, mask=r < n, other=float("-inf"))
    b = tl.load(X + r, mask=r >= n, other=2.5)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, a)
    tl.store(Y + T + r, b)
