# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    Z,  # int*
):
    r = tl.arange(0, 4)
    # the mask is the sum of rows, the first of which is overwritten
    mask = tl.sum(tl.load(Y + r[:, None] * 4 + r[None, :]), axis=1) > 2
    tl.debug_barrier()  # Y is read above and written below
    tl.store(Y + r, r, mask=mask)
    # an index from the memory that the store goes to
    index = tl.load(Z + 3 - r)
    tl.debug_barrier()  # Z is read above and written below
    tl.store(Z + index, 7)
