# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + T - 1 - r)
    tl.debug_barrier()
    tl.store(X + r, x)
