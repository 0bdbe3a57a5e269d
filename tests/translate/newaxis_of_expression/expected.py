# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    M,
    N,
    T: tl.constexpr,
):
    rx = tl.arange(0, T)
    ry = tl.arange(0, T)
    check = (rx < M)[:, None] & (ry < N)[None, :]
    x = tl.load(X + (rx * N)[:, None] + ry[None, :], mask=check, other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + (rx * N)[:, None] + ry[None, :], x + (rx - ry)[None, :], mask=check)
