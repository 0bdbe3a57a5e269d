# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # double*
    Y,  # long*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + r * 3
    q = X + n
    tl.store(Y + r, (p.to(tl.int64) - q.to(tl.int64)) // 8)
    tl.store(Y + T, (q.to(tl.int64) - X.to(tl.int64)) // 8)
