# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def cut_from_loads(x):
    # x, summed along an axis of one element: Triton up to 3.8 refuses products of doubles made of narrower loads
    bits = tl.sum(tl.expand_dims(x.to(tl.int64, bitcast=True), -1), axis=-1)
    return bits.to(tl.float64, bitcast=True)


# Triton refuses a product of doubles where numbers of few bits, or the places of numbers, were loaded for it
@triton.jit
def f(
    A,  # half*
    B,  # double*
    AT,  # short*
    C,  # double*
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(A + m[:, None] * K + k[None, :]).to(tl.float64)
    # narrow: what the addresses come from
    at = tl.load(AT + k).to(tl.int32)
    b = tl.load(B + at[:, None] * N + n[None, :])
    # not narrow: a product stands between
    c = tl.dot(cut_from_loads(a), cut_from_loads(b))
    d = tl.dot(c, tl.trans(c))
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + m[:, None] * M + m[None, :], d)
