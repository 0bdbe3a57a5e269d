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
    r = tl.arange(0, T)
    p = X + r
    x = tl.load(p)
    for i in range(n):
        y = x + 1.0
        p += T
        tl.debug_barrier()
        x = tl.load(p)
        tl.debug_barrier()
        tl.store(Y + i * T + r, y)
