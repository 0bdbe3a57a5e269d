# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,  # multiple of 4
    m,  # multiple of 16
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + m + r, tl.load(X + n + r))
