# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    one = tl.full((1,), 1.0, tl.float32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + one)
