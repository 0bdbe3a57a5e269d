# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = Y + r
    tl.store(p, 1)
    tl.debug_barrier()  # Y is written above and read below
    x = tl.load(p)
    tl.store(p, x + r)
    tl.debug_barrier()  # Y is read above and written below
    tl.store(p, -1, mask=r > 7)
