# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    i = r[:, None] * 0 + r[None, :]
    tl.store(Y + 19 + r[:, None] * T + r[None, :], 2)
    tl.debug_barrier()  # Y is written above and below
    tl.store(Y + r[:, None] * T + r[None, :], tl.trans(i))
    # rows of 8 apart, 16 from one to the next
    tl.store(Y + 100 + r[:, None] * 16 + r[None, :], i)
    tl.store(Y + 300 + r[:, None] * 16 + r[None, :], i)
