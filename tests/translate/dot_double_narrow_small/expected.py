# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def cut_from_loads(x):
    # x, summed along an axis of one element: Triton up to 3.8 refuses products of doubles made of narrower loads
    bits = tl.sum(tl.expand_dims(x.to(tl.int64, bitcast=True), -1), axis=-1)
    return bits.to(tl.float64, bitcast=True)


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


# 32 bits are too narrow where the inner size is widened, as in the first product
@triton.jit
def f(
    A,  # float*
    B,  # double*
    C,  # double*
    D,  # double*
    N: tl.constexpr,
    K: tl.constexpr,
):
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(A + n[:, None] * K + k[None, :])
    b = tl.load(B + k[:, None] * N + n[None, :])
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(
        C + n[:, None] * N + n[None, :],
        tl.dot(widen_lhs(cut_from_loads(a.to(tl.float64))), widen_rhs(b)),
    )
    tl.debug_barrier()  # C, written above, may overlap D, written below
    tl.store(D + k[:, None] * K + k[None, :], tl.dot(b, a.to(tl.float64)))
