# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    in_3 = tl.arange(0, 4) < 3
    in_12 = tl.arange(0, 16) < 12
    i = tl.arange(0, 4)
    j = tl.arange(0, 4)
    k = tl.arange(0, 16)
    x = tl.load(X + i[:, None] * 4 + j[None, :], mask=in_3[:, None], other=0.0)
    y = tl.reshape(x, (16,))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + k, y, mask=in_12)
    tl.store(Y + 12, tl.sum(tl.where(in_12, tl.reshape(x, (16,)), 0.0), axis=0))
