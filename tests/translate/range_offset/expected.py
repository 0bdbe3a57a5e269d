# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, 8)
    s = tl.arange(5, 13)
    t = tl.arange(T - 8, T + 8)
    tl.store(Y + r, s)
    tl.store(Y + 8 + r, tl.arange(0, 0 - -8) - 8)
    tl.store(Y + 16 + tl.arange(0, T), t)
