# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    c = 300 + n
    b = c.to(tl.int8)
    a = b.to(tl.int32)
    tl.store(Y, a)
    tl.store(Y + 1, c)
    tl.store(Y + 2, b.to(Y.dtype.element_ty))
    y = 2
    x = y.to(tl.float32)
    tl.store(Y + 3, (x * 4.0).to(Y.dtype.element_ty))
