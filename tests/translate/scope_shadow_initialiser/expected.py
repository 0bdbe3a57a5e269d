# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    k = 3
    s = 0
    for i in range(n):
        s += k
        k_1 = i * 10
        s += k_1
    tl.store(Y, s)
    tl.store(Y + 1, k)
