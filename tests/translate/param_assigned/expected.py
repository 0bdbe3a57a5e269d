# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    K,
    s,
    T: tl.constexpr,
    SPLITK: tl.constexpr,
):
    r = tl.arange(0, T)
    K //= SPLITK
    s *= 2.0
    X += K
    for i in range(2):
        Y += T
    value = tl.load(X + r) * s
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
