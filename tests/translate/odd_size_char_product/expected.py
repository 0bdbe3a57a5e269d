# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def widen_lhs(x):
    # [M, K] -> [M, 2 * K] with a zero after each element: tl.dot needs a larger K
    joined = tl.join(x, tl.zeros_like(x))
    return tl.reshape(joined, (x.shape[0], 2 * x.shape[1]))


@triton.jit
def widen_rhs(x):
    # [K, N] -> [2 * K, N] with a row of zeros after each row, to match widen_lhs
    joined = tl.permute(tl.join(x, tl.zeros_like(x)), (0, 2, 1))
    return tl.reshape(joined, (2 * x.shape[0], x.shape[1]))


@triton.jit
def f(
    X,  # char*
    Y,  # int*
):
    in_5 = tl.arange(0, 8) < 5
    r = tl.arange(0, 8)
    x = tl.load(
        X + r[:, None] * 5 + r[None, :], mask=in_5[:, None] & in_5[None, :], other=0
    )
    b = x > 0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + r[:, None] * 5 + r[None, :],
        tl.dot(
            widen_lhs(widen_lhs(tl.where(in_5[None, :], b.to(tl.int8), 0))),
            widen_rhs(widen_rhs(x)),
        ),
        mask=in_5[:, None] & in_5[None, :],
    )
