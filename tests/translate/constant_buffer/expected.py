# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    tab,  # char*, a buffer of 64 bytes
    deltas,  # int*, a buffer of 16 bytes
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, tl.load(tab + r).to(tl.int32) + 7 + tl.load(deltas + r // 4))
