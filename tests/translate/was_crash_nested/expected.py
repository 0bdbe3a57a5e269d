# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    i = tl.arange(0, T)
    s = 0.0
    for a in range(n):
        for b in range(n):
            x = tl.load(X + (a * n + b) * T * T + i[:, None] * T + i[None, :])
            value = tl.sum(tl.sum(x, axis=1), axis=0)
            s = tl.where(s > value, s, value)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, s)
