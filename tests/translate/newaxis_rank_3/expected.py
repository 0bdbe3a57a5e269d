# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    i = tl.arange(0, 2)
    j = tl.arange(0, 4)
    k = tl.arange(0, 8)
    ij = i[:, None] * 10 + j[None, :]
    jk = j[:, None] * 8 + k[None, :]
    o = i[:, None, None] * 32 + jk[None, :, :]
    tl.store(Y + o, ij[:, :, None] * 10 + k[None, None, :])
    ik = i[:, None] * 100 + k[None, :]
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 64 + o, ik[:, None, :] + j[None, :, None] * 10)
