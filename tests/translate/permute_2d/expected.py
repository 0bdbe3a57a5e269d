# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    i = tl.arange(0, 8)
    j = tl.arange(0, 16)
    x = tl.load(X + i[:, None] * 16 + j[None, :])
    o = j[:, None] * 8 + i[None, :]
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + o, tl.trans(x) + tl.trans(x))
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 128 + o, tl.trans(x))
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 256 + o, tl.trans(x + 1.0))
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + 384 + o, tl.permute(tl.trans(tl.trans(tl.trans(x))), (0, 1)))
