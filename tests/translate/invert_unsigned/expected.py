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
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, ~x)
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z + r, ~x.to(tl.uint64))
    tl.debug_barrier()  # Z, written above, may overlap X, read below
    value = ~tl.load(X)
    tl.debug_barrier()  # X is read above and written below
    tl.store(X, value)
