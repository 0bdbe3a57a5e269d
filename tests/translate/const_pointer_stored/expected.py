# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def fill(
    X,  # float*
    Y,  # float*
    n,
):
    x = tl.load(Y)
    tl.debug_barrier()  # Y, read above, may overlap X, written below
    tl.store(X, x + n)
