# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n: tl.int64,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    p = X + n + r
    p -= 8
    p += 1
    value = tl.load(p - 1)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
