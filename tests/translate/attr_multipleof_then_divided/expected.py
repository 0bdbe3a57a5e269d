# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    K,  # multiple of 8
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    K //= 8
    value = tl.load(X + r * K)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
