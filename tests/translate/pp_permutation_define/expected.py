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
):
    i = tl.arange(0, A)
    j = tl.arange(0, B)
    k = tl.arange(0, C)
    a = tl.load(X + i[:, None, None] * B * C + j[None, :, None] * C + k[None, None, :])
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(
        Y + j[:, None, None] * C * A + k[None, :, None] * A + i[None, None, :],
        tl.permute(a, (1, 2, 0)),
    )
