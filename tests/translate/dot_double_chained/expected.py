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


# a product of doubles adds to an accumulator of double
@triton.jit
def f(
    X,  # double*
    Y,  # double*
):
    r = tl.arange(0, 4)
    at = r[:, None] * 4 + r[None, :]
    x = tl.load(X + at)
    y = tl.load(Y + at)
    y = tl.dot(
        widen_lhs(widen_lhs(x)), widen_rhs(widen_rhs(x)), y, out_dtype=tl.float64
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + at, y)
