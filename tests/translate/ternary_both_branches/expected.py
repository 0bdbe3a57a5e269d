# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Z,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.where(
        r < n,
        tl.load(X + r, mask=r < n, other=0.0),
        tl.load(Z + r - tl.cast(n, tl.int64), mask=r >= n, other=0.0),
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
