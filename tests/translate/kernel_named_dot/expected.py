# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def exp(
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.exp(tl.load(X + r))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
