# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # int*
    B,  # int*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    pa = A + r
    value = tl.load(pa) - tl.load(B + r)
    tl.debug_barrier()  # A, read above, may overlap Y, written below
    tl.store(Y + r, value)
