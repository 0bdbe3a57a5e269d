# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    a = n
    a += 10
    a -= m
    tl.store(Y, a)
    a *= m
    tl.store(Y + 1, a)
    a //= 4
    tl.store(Y + 2, a)
    a %= 5
    tl.store(Y + 3, a)
    a <<= 4
    tl.store(Y + 4, a)
    a >>= 2
    tl.store(Y + 5, a)
    a &= 29
    tl.store(Y + 6, a)
    a |= 3
    tl.store(Y + 7, a)
    a ^= 255
    tl.store(Y + 8, a)
    x = 7.0
    x /= 2.0
    a = 10
    a = (a * 1.55).to(tl.int32)
    tl.store(Y + 9, (a + x * 2.0).to(Y.dtype.element_ty))
    c = tl.full((), 100, tl.int8)
    c = (c.to(tl.int32) + 100).to(tl.int8)
    tl.store(Y + 10, c.to(Y.dtype.element_ty))
