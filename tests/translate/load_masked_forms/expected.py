# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    L,  # int*
    Y,  # float*
    n,
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    o = i[:, None] * 16 + j[None, :]
    p = X + o
    a = tl.load(p, mask=(tl.load(L + j) != 0)[None, :], other=0.0)
    b = tl.load(p, mask=n != 0, other=0.0)
    c = tl.load(p, mask=n > 99, other=0.0)
    d = tl.load(
        p, mask=((j > 2) & (j < tl.maximum(n, 4)) | (j == 15))[None, :], other=0.0
    )
    e = tl.load(p, mask=(i < 3)[:, None], other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + o, a)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 128 + o, b + c)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 256 + o, d)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 384 + o, e)
