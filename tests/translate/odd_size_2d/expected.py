# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    M: tl.constexpr,
    N: tl.constexpr,
):
    in_M = tl.arange(0, triton.next_power_of_2(M)) < M
    in_N = tl.arange(0, triton.next_power_of_2(N)) < N
    i = tl.arange(0, triton.next_power_of_2(M))
    j = tl.arange(0, triton.next_power_of_2(N))
    x = tl.load(
        X + i[:, None] * N + j[None, :], mask=in_M[:, None] & in_N[None, :], other=0.0
    )
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + j[:, None] * M + i[None, :],
        tl.trans(x) - tl.max(tl.where(in_N[None, :], x, float("nan")), axis=1)[None, :],
        mask=in_N[:, None] & in_M[None, :],
    )
    tl.store(
        Y + 144 + i,
        tl.sum(tl.where(in_N[None, :], tl.exp(x * 0.0), 0.0), axis=1),
        mask=in_M,
    )
    tl.store(
        Y + 147 + j, tl.min(tl.where(in_M[:, None], x, float("nan")), axis=0), mask=in_N
    )
