# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    W,  # float*
    M,
    L,
    TM: tl.constexpr,
):
    c = tl.program_id(0)
    C = tl.num_programs(0)
    # rows of L, those of one c every C of them
    rm = tl.arange(0, TM)
    for m in range(0, M, TM):
        off = (rm // L).to(tl.int64) * C * L + c * L + rm % L
        x = tl.load(X + off, mask=rm < M, other=0.0)
        tl.store(Y + off, 2.0 * x, mask=rm < M)
        rm += TM
    # half of each turn's elements are the next turn's too
    for m in range(0, M, TM // 2):
        i = m + tl.arange(0, TM)
        tl.debug_barrier()  # W is written by an earlier iteration and below
        tl.store(W + c * M + i, tl.cast(m, tl.float32), mask=i < M)
