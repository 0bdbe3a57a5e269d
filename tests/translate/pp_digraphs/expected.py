# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def digraphs(
    z,  # int*
    x,  # int*
):
    r = tl.arange(0, 4)
    t = tl.broadcast_to(r[None, :] + 10, (2, 4))
    if tl.sum(r, axis=0) == 6:
        tl.store(z + r, tl.sum(t, axis=0) * 3 % 2)
