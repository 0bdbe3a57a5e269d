# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# pointers declared first and assigned on either path, and made of numbers of any width
@triton.jit
def f(
    X,  # int*
    Y,  # int*
    n,
    zero: tl.uint8,
):
    p = tl.cast(0, tl.int64).to(tl.pointer_type(tl.int32))
    pa = tl.broadcast_to(tl.cast(0, tl.int64).to(tl.pointer_type(tl.int32)), (4,))
    if n > 2:
        p = X
        pa = X + tl.arange(0, 4)
    else:
        p = X + 1
        pa = X + 4 + tl.arange(0, 4)
    value = tl.load(pa) + tl.load(p)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + tl.arange(0, 4), value)
    none = zero.to(tl.int64).to(tl.pointer_type(tl.int32))
    tl.store(Y + 4, tl.where(none.to(tl.int64) != 0, 1, 2))
