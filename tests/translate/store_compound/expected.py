# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = Y + r
    tl.store(p, tl.load(p) + 1.0)
    tl.debug_barrier()  # Y is written above and read below
    tl.store(p, tl.load(p, mask=r < n, other=0.0) * 2.0, mask=r < n)
    tl.debug_barrier()  # Y is written above and read below
    value = tl.load(Y + T) - 5.0
    tl.debug_barrier()  # Y is read above and written below
    tl.store(Y + T, value)
