# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    S,  # float*
    n,
    TM: tl.constexpr,
    TN: tl.constexpr,
):
    i = tl.arange(0, TM)
    j = tl.arange(0, TN)
    px = S + i[:, None] * TN + j[None, :]
    check = tl.broadcast_to((j < n)[None, :], (TM, TN))
    x = tl.load(X + i[:, None] * TN + j[None, :])
    tl.debug_barrier()  # X, read above, may overlap S, updated below
    tl.atomic_add(px, x, mask=check)
