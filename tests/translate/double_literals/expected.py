# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # double*
    H,  # half*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, tl.full((), 0.1, tl.float64))
    tl.store(Y + 4, tl.full((), 0.1, tl.float64))
    tl.store(Y + 5, tl.full((), 0.1 + 0.2, tl.float64))
    x = tl.full((), 0.1, tl.float64)
    tl.store(Y + 6, x * 0.7)
    tl.store(Y + 8 + r, tl.full((), 0.3, tl.float64), mask=r < 2)
    tl.store(Y + 7, 0.10000000149011612)
    tl.debug_barrier()  # Y, written above, may overlap H, written below
    tl.store(H + r, 0.1)
