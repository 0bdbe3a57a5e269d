# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    px = X + r
    x = tl.load(px)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x.to(tl.float32) / n)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value = tl.load(px).to(tl.float32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + T + r, value)
    tl.store(Y + 2 * T + r, float("-inf"))
    tl.store(Y + 5 * T, tl.sum(x, axis=0).to(tl.float32) / n)
    tl.store(Y + 3 * T + r, tl.full((T,), tl.cast(n, tl.float32), tl.float32) + 0.5)
    tl.store(Y + 4 * T + r, -x + (x + n) / 2.0)
