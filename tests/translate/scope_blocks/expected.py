# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
    m,
):
    x = n
    x_1 = 0.5
    tl.store(Y, (x_1 * 4.0).to(Y.dtype.element_ty))
    x_2 = tl.arange(0, 16)
    tl.store(Y + 1, tl.sum(x_2, axis=0))
    x_1 += 1.0
    tl.store(Y + 2, (x_1 * 2.0).to(Y.dtype.element_ty))
    tl.store(Y + 3, x)
    if n > 0:
        x_3 = m
        tl.store(Y + 4, x_3)
    for x_3 in range(2):
        tl.store(Y + 5, x_3)
    tl.store(Y + 6, x)
