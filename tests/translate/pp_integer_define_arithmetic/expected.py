# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    N: tl.constexpr,
    T: tl.constexpr,
):
    tl.store(Y, -3)
    tl.store(Y + 1, -3)
    tl.store(Y + 2, -2 * n)
    tl.store(Y + 3, N // n)
    tl.store(Y + 4, N % n)
    tl.store(Y + 5, N // (T - 20))
    tl.store(Y + 6, 1)
