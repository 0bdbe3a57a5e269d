# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    i = tl.arange(0, 4)
    j = tl.arange(0, 8)
    k = tl.arange(0, 2)
    x = tl.load(X + i[:, None, None] * 16 + j[None, :, None] * 2 + k[None, None, :])
    y = tl.sum(x, axis=1)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i[:, None] * 2 + k[None, :], y)
