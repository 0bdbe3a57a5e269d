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
    tl.debug_barrier()  # X is read above and written below
    tl.store(X + r, x)
