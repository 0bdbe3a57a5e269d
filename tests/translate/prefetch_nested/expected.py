# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
    m,
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    for i in range(m):
        p = X + i * n + r
        most = tl.full((T,), float("-inf"), tl.float32)
        for k in range(0, n, T):
            # Y, written by an earlier iteration, may overlap X, read below
            tl.debug_barrier()
            x = tl.load(p, mask=r + k < n, other=float("-inf"))
            most = tl.where(most > x, most, x)
            p += T
        tl.debug_barrier()  # X, read above, may overlap Y, written below
        tl.store(Y + i, tl.max(most, axis=0))
