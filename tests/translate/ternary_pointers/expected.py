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
    p = tl.where(n > 0, A, B)
    q = tl.where(r < 4, B + r, p + r)
    value = tl.load(q)
    tl.debug_barrier()  # A or B, read above, may overlap Y, written below
    tl.store(Y + r, value)
