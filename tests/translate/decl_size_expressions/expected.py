# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
):
    in_3 = tl.arange(0, 4) < 3
    few = tl.arange(0, 4)
    some = tl.arange(4, 6)
    all = tl.full((4,), 4, tl.int32)
    tl.store(
        X,
        tl.sum(tl.where(in_3, few, 0), axis=0) * 100
        + tl.sum(some, axis=0) * 10
        + tl.sum(all, axis=0),
    )
