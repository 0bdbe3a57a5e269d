# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
    K: tl.constexpr,
):
    y = n
    if K > 3:
        y = 10
    if K == 3:
        y = 20
    else:
        y += m
    tl.store(Y, y)
