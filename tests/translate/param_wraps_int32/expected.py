# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    a,
    b: tl.uint32,
    c,
):
    tl.store(Y, a + a)
    tl.store(Y + 1, (b + b > 5).to(Y.dtype.element_ty))
    tl.store(Y + 2, a * c)
    d = tl.cast(a * c, tl.int64)
    tl.store(Y + 3, (d < 0).to(Y.dtype.element_ty))
