# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    H: tl.constexpr,
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    h = tl.arange(0, H)
    a = tl.load(A + (m[:, None] * K + k[None, :])[:, :, None] * H + h[None, None, :])
    b = tl.load(B + (k[:, None] * N + n[None, :])[:, :, None] * H + h[None, None, :])
    c = tl.permute(
        tl.dot(tl.permute(a, (2, 0, 1)), tl.permute(b, (2, 0, 1))), (1, 2, 0)
    )
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + (m[:, None] * N + n[None, :])[:, :, None] * H + h[None, None, :], c)
