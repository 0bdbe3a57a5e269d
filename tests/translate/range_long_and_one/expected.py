# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # long*
    n: tl.int64,
):
    r = tl.arange(0, 8)
    one = tl.arange(3, 4)
    tl.store(Y + r, n * r + one)
