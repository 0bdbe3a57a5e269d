# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    K,
    M,
    TM: tl.constexpr,
    TK: tl.constexpr,
):
    i = tl.arange(0, TM)
    j = tl.arange(0, TK)
    check = i < M
    s = tl.zeros((TM,), dtype=tl.float32)
    for k in range(0, K, TK):
        check_1 = (i < M)[:, None] & (j < K - k)[None, :]
        x = tl.load(X + i[:, None] * K + k + j[None, :], mask=check_1, other=0.0)
        s_ = tl.sum(x, axis=1)
        s += s_
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i, s, mask=check)
