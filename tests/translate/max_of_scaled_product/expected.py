# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def max_of_product(x, factor, axis: tl.constexpr):
    # max(x * factor): of a positive factor the largest x times the factor, which is the same
    if (factor > 0.0) & (factor < float("inf")):
        largest = tl.max(x, axis=axis) * factor
    else:
        largest = tl.max(x * factor, axis=axis)
    return largest


@triton.jit
def f(
    Q,  # half*
    P,  # float*
    M,  # float*
    scale,
    n,
):
    r = tl.arange(0, 16)
    for k in range(n):
        tl.debug_barrier()
        q = tl.load(Q + r[:, None] * 16 + r[None, :])
        s_bare = tl.dot(q, tl.trans(q))
        m = max_of_product(s_bare, scale, axis=1)
        tl.store(M + r, m)
        tl.debug_barrier()
        tl.store(
            P + r[:, None] * 16 + r[None, :],
            tl.exp2((s_bare * scale - m[:, None]) * 1.4426950408889634),
        )
