# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    if n > 0:
        x = tl.full((T,), tl.cast(n, tl.float32), tl.float32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x)
