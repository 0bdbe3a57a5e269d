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
    tl.store(Y, a & (b == c))
    tl.store(Y + 1, a | b ^ c & a)
    tl.store(Y + 2, 1 << c + 1)
    tl.store(Y + 3, a - 1 << c & 15)
    tl.store(Y + 4, ((a < b) == tl.cast(c > a, tl.int32)).to(Y.dtype.element_ty))
    tl.store(Y + 5, (a == b) & c)
    tl.store(Y + 6, tl.cast(a & b == c, tl.int32))
    tl.store(Y + 7, a ^ (b < c))
