# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    Z,  # long*
    N: tl.constexpr,
):
    tl.store(Y, -2147483648)
    tl.store(Y + 1, -2147483648)
    tl.store(Y + 2, 1410065408)
    tl.store(Y + 3, 0 + 5)
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.cast(1410065408, tl.int64))
    tl.store(Z + 1, tl.cast(-2147483648 < 0, tl.int64))
    tl.store(Z + 2, tl.cast(N, tl.int64) * N)
    tl.store(Z + 3, tl.cast(-N - N, tl.int64))
