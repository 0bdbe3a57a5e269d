# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # long*
    M: tl.constexpr,
):
    tl.store(Y, tl.cast(-2147483648, tl.int64))
    tl.store(Y + 1, tl.cast(-2147483648, tl.int64))
    tl.store(Y + 2, tl.cast(-2147483648, tl.int64))
    tl.store(Y + 3, tl.cast(2147483647, tl.int64))
    tl.store(Y + 4, -9223372036854775808)
    tl.store(Y + 5, tl.cast(-2147483648 > 0, tl.int64))
    tl.store(Y + 6, tl.cast(-2147483648, tl.int64))
