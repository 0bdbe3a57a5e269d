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
    s = 0.0
    y = tl.zeros((T,), dtype=tl.float32)
    r = tl.arange(0, T)
    if n > 0:
        s = 2.0
        y = tl.load(X + r)
    else:
        s = 3.0
        y = tl.full((T,), 1.0, tl.float32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, y * s)
