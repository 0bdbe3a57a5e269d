# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # bool*
    Y,  # bool*
    s: tl.int1,
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    y = r - 2 != 0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x & y)
    tl.store(Y + T + r, ~x | s)
    tl.store(Y + 2 * T + r, x == s.to(tl.int32))
    tl.store(Y + 3 * T + r, x + y.to(tl.int32) != 0)
    tl.store(Y + 4 * T + r, 2 * s - x != 0)
