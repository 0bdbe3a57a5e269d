# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    a,
    b,
    c,
):
    tl.store(Y, a - b - c)
    tl.store(Y + 1, a // c * c)
    tl.store(Y + 2, a * c // b)
    tl.store(Y + 3, -a % c)
    tl.store(Y + 4, --a)
    tl.store(Y + 5, -(b - a))
    tl.store(Y + 6, a - (b - c))
    tl.store(Y + 7, ~a + 1)
    tl.store(Y + 8, a % b * c)
    tl.store(Y + 9, a - b)
    tl.store(Y + 10, a * -b)
