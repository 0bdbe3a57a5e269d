# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    A: tl.constexpr,
    B: tl.constexpr,
):
    tl.store(Y, A)
    tl.store(Y + 1, B)
    tl.store(Y + 2, 0)
