# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    TM: tl.constexpr,
    TN: tl.constexpr,
):
    i = tl.arange(0, TM // 2)
    j = tl.arange(0, 4)
    k = tl.arange(0, TM * TN)
    one = tl.full((1,), tl.load(X), tl.float32)
    x = tl.load(X + i[:, None] * 4 + j[None, :])
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + i[:, None] * 4 + j[None, :], x * 2.0)
    tl.store(Y + 16 + k, one)
