# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    at,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, 1.0)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + at, 2.0)
