# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    TM: tl.constexpr,
):
    tl.store(Y, TM)
