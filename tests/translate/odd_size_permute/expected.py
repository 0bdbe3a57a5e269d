# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
):
    in_3 = tl.arange(0, 4) < 3
    in_5 = tl.arange(0, 8) < 5
    i = tl.arange(0, 4)
    j = tl.arange(0, 4)
    k = tl.arange(0, 8)
    x = tl.load(
        X + (i[:, None] * 4 + j[None, :])[:, :, None] * 5 + k[None, None, :],
        mask=in_3[:, None, None] & in_5[None, None, :],
        other=0,
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + (k[:, None] * 3 + i[None, :])[:, :, None] * 4 + j[None, None, :],
        tl.permute(x, (2, 0, 1)),
        mask=in_5[:, None, None] & in_3[None, :, None],
    )
    tl.store(Y + 60 + j, tl.sum(tl.where(in_3[:, None], tl.sum(x, axis=2), 0), axis=0))
