# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    ld,  # multiple of 8
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(Y + r, tl.load(X + ld + r))
