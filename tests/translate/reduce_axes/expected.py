# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    M: tl.constexpr,
    N: tl.constexpr,
):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(X + i[:, None] * N + j[None, :])
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i, tl.sum(x, axis=1))
    tl.store(Y + 8 + i, tl.max(x, axis=1))
    tl.store(Y + 16 + i, tl.min(x, axis=1))
    tl.store(Y + 24 + j, tl.sum(x, axis=0))
    tl.store(Y + 40 + j, tl.max(x, axis=0))
    tl.store(Y + 56 + j, tl.min(x, axis=0))
