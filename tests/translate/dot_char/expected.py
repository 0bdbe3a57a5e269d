# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # char*
    B,  # char*
    C,  # int*
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(A + m[:, None] * K + k[None, :])
    b = tl.load(B + k[:, None] * N + n[None, :])
    c = tl.dot(a, b)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + m[:, None] * N + n[None, :], c)
