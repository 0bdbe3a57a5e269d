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
    A,  # half*
    B,  # half*
    C,  # float*
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(A + m[:, None] + k[None, :])
    b = tl.load(B + k[:, None] + n[None, :])
    c = tl.dot(
        widen_lhs(widen_lhs(widen_lhs(widen_lhs(a)))),
        widen_rhs(widen_rhs(widen_rhs(widen_rhs(b)))),
    )
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + m[:, None] + n[None, :], c)
