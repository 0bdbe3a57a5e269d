# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    STEP: tl.constexpr,
):
    tl.store(Y, n - 3)
    tl.store(Y + 1, n * STEP)
