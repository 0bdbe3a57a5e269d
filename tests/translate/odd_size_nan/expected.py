# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # half*
    Y,  # half*
    N: tl.constexpr,
    M: tl.constexpr,
):
    in_N = tl.arange(0, triton.next_power_of_2(N)) < N
    i = tl.arange(0, M)
    j = tl.arange(0, triton.next_power_of_2(N))
    x = tl.load(X + i[:, None] * N + j[None, :], mask=in_N[None, :], other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + i,
        tl.max(tl.where(in_N[None, :], x, float("nan")).to(tl.float32), axis=1).to(
            tl.float16
        ),
    )
    tl.store(
        Y + M + i,
        tl.min(tl.where(in_N[None, :], x, float("nan")).to(tl.float32), axis=1).to(
            tl.float16
        ),
    )
    y = tl.sum(x.to(tl.float32), axis=1).to(tl.float16)
    tl.store(Y + 2 * M + i, y)
