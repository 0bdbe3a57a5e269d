# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    tl.store(Y, (0.1 < 4.0) // tl.abs(tl.full((), 5, tl.int32)))
    tl.store(Y + 1, (3 < 4) % tl.abs(tl.full((), 5, tl.int32)))
    tl.store(Y + 2, tl.cast(((not True) & True) // 4294967296, tl.int32))
    tl.store(Y + 3, (tl.full((), 0.1, tl.float64) < 4.0).to(tl.int32) % 3)
