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
    c = tl.arange(0, T)
    x = tl.load(X + r[:, None] * T + c[None, :])
    low = tl.min(x, axis=1)
    high = tl.max(x, axis=1)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    value = low + high
    tl.store(Y + r, tl.where(value > 0.0, value, 0.0) - tl.where(low < high, low, high))
