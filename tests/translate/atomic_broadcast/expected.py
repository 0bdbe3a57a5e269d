# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# values, masks and what is compared are spread over the block of pointers
@triton.jit
def spread(
    X,  # int*
    Y,  # int*
    Z,  # int*
):
    r = tl.arange(0, 4)
    first = tl.full((1,), tl.load(X) >= 0, tl.int1)
    v = tl.full((1,), tl.load(X), tl.int32)
    tl.debug_barrier()  # X is read above and updated below
    tl.atomic_add(X + r, tl.broadcast_to(v, (4,)), mask=first)
    tl.debug_barrier()  # all above is done before the lock is released
    value = tl.atomic_xchg(Y + r, tl.broadcast_to(v, (4,)))
    tl.debug_barrier()  # Y, updated above, may overlap Z, written below
    tl.store(Z + r, value)
    tl.debug_barrier()  # Z is written above and updated below
    tl.atomic_cas(
        Z + r,
        tl.broadcast_to(tl.zeros((1,), dtype=tl.int32), (4,)),
        tl.broadcast_to(v, (4,)),
    )
