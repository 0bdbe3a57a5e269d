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
    for i in range(n):
        # Y, written by an earlier iteration, may overlap X, read below
        tl.debug_barrier()
        x = tl.load(p)
        tl.debug_barrier()  # X, read above, may overlap Y, written below
        tl.store(Y + i * T + r, x + 1.0)
        p += T
