# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    P,  # int*
):
    z = 2 * (2 * 3)
    y = 5
    x = 7
    tl.store(P, x + y)
    tl.store(P + 1, z)
