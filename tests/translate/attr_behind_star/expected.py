# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,  # multiple of 4
):
    tl.store(Y + tl.arange(0, 4), tl.load(X + tl.arange(0, 4)) + n)
