# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    T: tl.constexpr,
):
    tl.store(X, tl.cast(T, tl.float32))
