# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    A,  # float*
    B,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = A + r
    x = tl.zeros((T,), dtype=tl.float32)
    if n == 1:
        p = B + r
    else:
        x = tl.load(p)
    if n > 0:
        x += tl.load(p) * 2.0
    tl.debug_barrier()  # A or B, read above, may overlap Y, written below
    tl.store(Y + r, x)
