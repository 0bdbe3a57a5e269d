# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
):
    i = tl.arange(0, 4)
    j = tl.arange(0, 8)
    k = tl.arange(0, 16)
    x = tl.load(X + i[:, None, None] * 128 + j[None, :, None] * 16 + k[None, None, :])
    a = tl.permute(x, (2, 0, 1))
    b = tl.permute(x, (1, 2, 0))
    c = tl.permute(x, (0, 2, 1))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + k[:, None, None] * 32 + i[None, :, None] * 8 + j[None, None, :], a)
    tl.store(
        Y + 512 + j[:, None, None] * 64 + k[None, :, None] * 4 + i[None, None, :], b
    )
    tl.store(
        Y + 1024 + i[:, None, None] * 128 + k[None, :, None] * 8 + j[None, None, :], c
    )
