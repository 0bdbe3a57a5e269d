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
    value = tl.load(X + r - tl.cast(n, tl.int64), mask=r >= n, other=1.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
