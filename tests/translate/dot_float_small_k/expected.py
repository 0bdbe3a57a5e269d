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
def dot(
    A,  # float*
    B,  # float*
    C,  # float*
    K,
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
):
    rm = tl.arange(0, TM)
    rn = tl.arange(0, TN)
    rk = tl.arange(0, TK)
    c = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, K, TK):
        a = tl.load(A + rm[:, None] * K + rk[None, :] + k)
        b = tl.load(B + rn[:, None] * K + rk[None, :] + k)
        c = tl.dot(widen_lhs(a), widen_rhs(tl.trans(b)), c, input_precision="ieee")
    tl.store(C + rm[:, None] * TN + rn[None, :], c)
