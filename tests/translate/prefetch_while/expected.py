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
    k = n
    while k > 0:
        x = tl.load(p)
        sum += x
        p += T
        k -= T
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum(sum, axis=0))
