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
    p = X + r
    sum = tl.zeros((T,), dtype=tl.float32)
    for k in range(n, 0, -T):
        x = tl.load(p, mask=r < k, other=0.0)
        sum += x
        p += T
    mean = tl.sum(sum, axis=0) / n
    p = X + r
    q = Y + r
    for k in range(n, 0, -T):
        # Y, written by an earlier iteration, may overlap X, read below
        tl.debug_barrier()
        x = tl.load(p, mask=r < k, other=0.0)
        tl.debug_barrier()  # X, read above, may overlap Y, written below
        tl.store(q, x - mean, mask=r < k)
        p += T
        q += T
