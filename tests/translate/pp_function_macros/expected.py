# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    x_base,  # float*
    y_base,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(x_base + r)
    SQUARE = 2
    tl.debug_barrier()  # x_base, read above, may overlap y_base, written below
    tl.store(y_base + r, (x + 1.0) * (x + 1.0) * SQUARE + x)
