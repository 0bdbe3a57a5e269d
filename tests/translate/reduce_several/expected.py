# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
):
    i = tl.arange(0, A)
    j = tl.arange(0, B)
    k = tl.arange(0, C)
    x = tl.load(X + (i[:, None] * B + j[None, :])[:, :, None] * C + k[None, None, :])
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + j, tl.sum(tl.sum(x, axis=2), axis=0))
    tl.store(Y + B + k, tl.max(tl.max(x, axis=1), axis=0))
    tl.store(Y + B + C + i, tl.sum(tl.max(x, axis=2), axis=1))
    tl.store(Y + B + C + A, tl.sum(tl.sum(tl.sum(x, axis=2), axis=1), axis=0))
    tl.store(Y + B + C + A + 1, tl.min(tl.min(tl.min(x, axis=2), axis=1), axis=0))
