# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    i = n
    s = 0
    while i > 0:
        s += i
        i -= 2
    tl.store(Y, s)
    tl.store(Y + 1, i)
    n = n + 0
    while n != 0:
        n -= 1
        k = n
        while (k > 0) & (s < 100):
            s += k
            k -= 1
    tl.store(Y + 2, n)
    tl.store(Y + 3, s)
