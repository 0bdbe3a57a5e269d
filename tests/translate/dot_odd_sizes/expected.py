# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # half*
    B,  # half*
    C,  # float*
    M: tl.constexpr,
    K: tl.constexpr,
    N: tl.constexpr,
):
    in_M = tl.arange(0, triton.next_power_of_2(M)) < M
    in_K = tl.arange(0, triton.next_power_of_2(K)) < K
    in_N = tl.arange(0, triton.next_power_of_2(N)) < N
    m = tl.arange(0, triton.next_power_of_2(M))
    n = tl.arange(0, triton.next_power_of_2(N))
    k = tl.arange(0, triton.next_power_of_2(K))
    a = tl.load(
        A + m[:, None] * K + k[None, :], mask=in_M[:, None] & in_K[None, :], other=0.0
    )
    b = tl.load(
        B + k[:, None] * N + n[None, :], mask=in_K[:, None] & in_N[None, :], other=0.0
    )
    c = tl.dot(a, b)
    tl.debug_barrier()  # A, read above, may overlap C, written below
    tl.store(C + m[:, None] * N + n[None, :], c, mask=in_M[:, None] & in_N[None, :])
