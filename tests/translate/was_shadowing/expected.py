# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.full((T,), 1.0, tl.float32)
    for i in range(n):
        x_1 = r * i
        tl.store(Y + T + r, x_1.to(Y.dtype.element_ty))
    tl.store(Y + r, x)
