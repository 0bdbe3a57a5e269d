# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # long*
):
    tl.store(Y, tl.cast(255 + 10, tl.int64))
    tl.store(Y + 1, 15)
    tl.store(Y + 2, 11)
    tl.store(Y + 3, 3000000000)
    tl.store(Y + 4, 1 << 40)
    tl.store(Y + 5, 1 << 41)
    tl.store(Y + 6, (tl.full((), 4294967295, tl.uint32) + 1).to(Y.dtype.element_ty))
    tl.store(Y + 7, tl.cast(65 + 10, tl.int64))
    tl.store(Y + 8, 4294967295)
    tl.store(Y + 9, 1)
    tl.store(Y + 10, (tl.full((), 4294967295, tl.uint32) > 0).to(Y.dtype.element_ty))
    tl.store(Y + 11, (tl.full((), 5, tl.uint64) - 6 > 0).to(Y.dtype.element_ty))
    tl.store(Y + 12, tl.cast(65 - 65 + 0 + 39, tl.int64))
    tl.store(Y + 13, 9223372036854775807)
