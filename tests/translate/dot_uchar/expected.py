# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # unsigned char*
    B,  # unsigned char*
    S,  # char*
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
    s = tl.load(S + k[:, None] * N + n[None, :])
    c = tl.sum(b.to(tl.int32)[None, :, :] * a.to(tl.int32)[:, :, None], axis=1)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + m[:, None] * N + n[None, :], c)
    c += tl.sum(s.to(tl.int32)[None, :, :] * a.to(tl.int32)[:, :, None], axis=1)
    tl.store(C + M * N + m[:, None] * N + n[None, :], c)
