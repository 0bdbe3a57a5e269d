# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    m,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.where(
        r < n, tl.load(X + r, mask=(r < n) & (r >= m), other=0.0) + 1.0, -1.0
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
