# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    n,
    s,
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    tl.store(
        Y + i[:, None] * 16 + j[None, :], tl.where((i < n)[:, None], j[None, :], s)
    )
    u = tl.where(n > 3, n, s)
    t = tl.where(n > 3, j, -j)
    tl.store(Y + 128 + j, t + u)
