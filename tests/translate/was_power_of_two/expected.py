# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    in_24 = tl.arange(0, 32) < 24
    r = tl.arange(0, 32)
    x = tl.load(X + r, mask=in_24, other=0.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, x / tl.sum(x, axis=0), mask=in_24)
