# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    # in
    # and
    Y,  # float*
    T: tl.constexpr,
):
    # out
    r = tl.arange(0, T)
    # sixteen
    value = tl.load(X + r) + 1.0
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
