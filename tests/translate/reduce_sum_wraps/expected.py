# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# a sum of integers wraps around in their own width
@triton.jit
def total(
    X,  # int*
    Y,  # int*
    Z,  # unsigned int*
):
    x = tl.load(X + tl.arange(0, 4))
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, tl.sum(x, axis=0))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.sum(x.to(tl.uint32), axis=0))
