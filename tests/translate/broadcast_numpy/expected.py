# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    s,
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    x = tl.load(X + i[:, None] * 16 + j[None, :])
    v = tl.load(X + j)
    one = tl.full((1, 1), 2.0, tl.float32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i[:, None] * 16 + j[None, :], x * v + s - i[:, None] * one)
