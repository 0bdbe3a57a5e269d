# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Y,  # float*
    n,
    m,
):
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    at = tl.arange(0, 16)
    # rows that there are
    check = r < m
    x = tl.load(X + at[:, None] * 16 + at[None, :], mask=check[:, None], other=0.0)
    y = tl.load(X + at[:, None] * 16 + at[None, :])
    sum = tl.zeros((16, 16), dtype=tl.float32)
    for k in range(n):
        sum = tl.dot(x, y, sum)
    first = tl.sum(tl.where(at[None, :] == 0, sum, 0.0), axis=1)
    # computed again: kept over the loop, it would take registers from it
    check = tl.where(r ^ m < 0, r, r - m) < 0
    tl.store(Y + r, first, mask=check)
