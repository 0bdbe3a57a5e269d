# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    i = tl.arange(0, 4)
    j = tl.arange(0, 16)
    x = tl.load(X + i[:, None] * 16 + j[None, :])
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i, tl.max(x, axis=1))
    tl.store(Y + 4 + i, tl.min(x, axis=1))
    tl.store(Y + 8 + i, tl.sum(x, axis=1))
