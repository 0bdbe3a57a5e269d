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
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, M * N)
    x = tl.load(X + i[:, None] * N + j[None, :])
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + k, tl.reshape(x, (M * N,)))
    tl.store(Y + M * N, tl.sum(tl.reshape(x, (M * N,)), axis=0))
    tl.store(Y + 200 + i[:, None] * N + j[None, :], j.to(Y.dtype.element_ty)[None, :])
