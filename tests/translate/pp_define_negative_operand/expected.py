# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    n,
    OFF: tl.constexpr,
):
    tl.store(Y, tl.cast(n - 3, tl.float32))
    tl.store(Y + 1, tl.cast(n - 3 - 3, tl.float32))
    tl.store(Y + 2, tl.cast(OFF, tl.float32))
    tl.store(Y + 3, tl.cast(2 * -OFF, tl.float32))
    tl.store(Y + 4, OFF / 2.0)
    tl.store(Y + 5, n - 0.5)
    tl.store(Y + 6, 1.0)
