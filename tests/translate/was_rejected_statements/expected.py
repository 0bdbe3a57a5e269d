# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    n = n + 0
    while n < 4:
        x += 1
        n += 1
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x + ~x + (x == 0))
