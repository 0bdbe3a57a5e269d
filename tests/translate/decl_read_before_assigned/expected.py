# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.zeros((T,), dtype=tl.float32)
    y = tl.where(r > 3, 1, 2).to(tl.float32)
    tl.store(Y + r, tl.where(r < 0, x, y))
