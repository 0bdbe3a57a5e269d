# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    N: tl.constexpr,
    Z: tl.constexpr,
):
    tl.store(Y, tl.where(N > 5, 0, 7))
    tl.store(Y + 1, tl.where(Z != 0, 0, 7))
    tl.store(Y + 2, tl.where(n > 40, 0, 3))
    tl.store(Y + 3, tl.cast((Z != 0) & False, tl.int32))
    tl.store(Y + 4, tl.cast((n < 40) | False, tl.int32))
    tl.store(Y + 5, 4)
    if Z != 0:
        tl.store(Y + 6, 0)
    for i in range(n):
        if i > 100:
            tl.store(Y + 6, 0)
    if Z == 0:
        return
    tl.store(Y + 6, 0)
