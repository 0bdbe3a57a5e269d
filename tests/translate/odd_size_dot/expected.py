# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    K,
    TK: tl.constexpr,
    N: tl.constexpr,
    M: tl.constexpr,
):
    in_TK = tl.arange(0, triton.next_power_of_2(TK)) < TK
    in_N = tl.arange(0, triton.next_power_of_2(N)) < N
    m = tl.arange(0, M)
    n = tl.arange(0, triton.next_power_of_2(N))
    k = tl.arange(0, triton.next_power_of_2(TK))
    pa = A + m[:, None] * K + k[None, :]
    pb = B + k[:, None] * N + n[None, :]
    c = tl.zeros((M, triton.next_power_of_2(N)), dtype=tl.float32)
    for i in range(0, K, TK):
        c = tl.dot(
            tl.load(pa, mask=in_TK[None, :], other=0.0),
            tl.load(pb, mask=in_TK[:, None] & in_N[None, :], other=0.0),
            c,
        )
        pa += TK
        pb += TK * N
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + m[:, None] * N + n[None, :], c, mask=in_N[None, :])
