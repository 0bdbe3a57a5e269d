# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    TM: tl.constexpr,
):
    r = tl.arange(0, TM * 2)
    tl.store(Y + r, r * (TM // 2))
