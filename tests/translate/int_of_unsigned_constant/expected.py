# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    v = tl.where(r < 2, -2, r)
    tl.store(Y + r, v)
    tl.store(Y + T, 44 + -1)
    tl.store(Y + T + 1, 255)
