# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # char*
    Y,  # char*
    c: tl.int8,
    s: tl.int16,
    n,
):
    value = tl.load(X + 128 - c.to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.load(X + 128 - s.to(tl.int64))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = tl.load(X + 128 - tl.cast(n, tl.int64) + -2147483648)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 2, value_2)
