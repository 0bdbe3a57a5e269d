# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# ~ of unsigned blocks and scalars stays in its width
@triton.jit
def invert(
    X,  # unsigned int*
    Y,  # unsigned int*
    Z,  # unsigned long*
):
    r = tl.arange(0, 4)
    x = tl.load(X + r)
    tl.debug_barrier()
    tl.store(Y + r, ~x)
    tl.debug_barrier()
    tl.store(Z + r, ~x.to(tl.uint64))
    tl.debug_barrier()
    value = ~tl.load(X)
    tl.debug_barrier()
    tl.store(X, value)
