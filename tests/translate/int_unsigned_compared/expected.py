# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    w: tl.int64,
):
    value = (tl.load(X).to(tl.uint32) < 1).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = (tl.load(X).to(tl.uint64) < 1).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = (tl.load(X) < 1).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 2, value_2)
    tl.store(Y + 3, ((w * 1073741825).to(tl.int32) < 0).to(Y.dtype.element_ty))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_3 = ((tl.load(X) + 130).to(tl.int8) > 127).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 4, value_3)
    tl.store(
        Y + 5,
        (tl.full((), 10, tl.uint64) == 18446744073709551516).to(Y.dtype.element_ty),
    )
    tl.store(
        Y + 6, (tl.full((), 2147483647, tl.uint32) != 4294967295).to(Y.dtype.element_ty)
    )
    tl.store(Y + 7, tl.cast(0 != 0, tl.int32))
    tl.store(Y + 8, tl.cast(-1 < 0, tl.int32))
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_4 = (tl.load(X).to(tl.uint32) > 3).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 9, value_4)
