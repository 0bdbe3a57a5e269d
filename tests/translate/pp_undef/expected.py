# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    P,  # int*
):
    tl.store(P, 1)
    tl.store(P + 1, 2)
    tl.store(P + 2, 3)
