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
    x = tl.load(tl.broadcast_to(X, (T,)), mask=r < n, other=0.0)
    y = tl.load(X + 1, mask=n > 3, other=0.0)
    z = tl.load(X + 2, mask=n > 30, other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + y + z)
