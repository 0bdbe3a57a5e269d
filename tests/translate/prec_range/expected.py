# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    pm,
    TM: tl.constexpr,
):
    r = tl.arange(0, TM)
    tl.store(Y + r, pm * TM + tl.arange(0, TM))
    tl.store(Y + TM + r, tl.arange(0, TM) // 2)
    tl.store(Y + 2 * TM + r, 2 * (tl.arange(0, 4 - -4) - 4) - 1)
    tl.store(Y + 3 * TM + r, tl.arange(0, TM) % 3)
