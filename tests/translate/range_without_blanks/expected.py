# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, 16)
    tl.store(Y + r, r * 2)
    tl.store(Y + 16 + tl.arange(0, T), tl.arange(1, 17))
