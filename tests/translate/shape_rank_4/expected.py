# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    D: tl.constexpr,
):
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    d = tl.arange(0, D)
    i = (
        (a[:, None, None, None] * B + b[None, :, None, None]) * C
        + c[None, None, :, None]
    ) * D + d[None, None, None, :]
    x = tl.load(X + i)
    o = tl.permute(i, (3, 1, 0, 2))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + o, tl.permute(x, (3, 1, 0, 2)) + 1.0)
    tl.debug_barrier()  # Y is written above and below
    tl.store(
        Y + A * B * C * D + a[:, None] * D + d[None, :],
        tl.sum(tl.max(x, axis=2), axis=1),
    )
