# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, r)
    tl.debug_barrier()
    x = tl.load(Y + T - 1 - r)
    tl.debug_barrier()  # Y is read above and written below
    tl.store(Y + T + r, x)
