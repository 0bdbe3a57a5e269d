# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
):
    for i in range(4):
        tl.store(Y + i, i * 65536 * 65536 // 3)
        tl.store(Y + 4 + i, i << 30 >> 30)
        divisor = i << 31 | 1
        tl.store(Y + 8 + i, 7 // tl.where(divisor != 0, divisor, 1))
        tl.store(
            Y + 12 + i,
            tl.cast(i - 2, tl.int32) // 2 + tl.cast(i - 2, tl.int32) % 2 * 10,
        )
