# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    q,  # int*
    p,  # int*
    Y,  # int*
):
    value = tl.atomic_add(q, 1)
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    value_1 = ((value != 0) & (tl.load(p, mask=value != 0, other=0) != 0)).to(tl.int32)
    tl.debug_barrier()  # p, read above, may overlap Y, written below
    tl.store(Y, value_1)
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_2 = tl.atomic_add(q + 1, 1)
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    value_3 = ((value_2 != 0) | (tl.load(p, mask=value_2 == 0, other=0) != 0)).to(
        tl.int32
    )
    tl.debug_barrier()  # p, read above, may overlap Y, written below
    tl.store(Y + 1, value_3)
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_4 = tl.atomic_add(q + 2, 1)
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    value_5 = tl.load(p, mask=value_4 == 0, other=value_4)
    tl.debug_barrier()  # p, read above, may overlap Y, written below
    tl.store(Y + 2, value_5)
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_6 = tl.atomic_add(q + 3, 1)
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    value_7 = tl.where(
        value_6 != 0,
        tl.load(p, mask=value_6 != 0, other=0),
        tl.load(p + 1, mask=value_6 == 0, other=0),
    )
    tl.debug_barrier()  # p, read above, may overlap Y, written below
    tl.store(Y + 3, value_7)
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_8 = tl.atomic_add(q + 4, 1)
    pointer = p + value_8
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    value_9 = tl.load(pointer) + 1
    tl.debug_barrier()  # p is read above and written below
    tl.store(pointer, value_9)
    tl.debug_barrier()  # p, written above, may overlap q, updated below
    value_10 = tl.atomic_add(q + 5, 1)
    mask = value_10 == 5
    pointer_1 = p + 1
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    value_11 = tl.load(pointer_1, mask=mask, other=0) + 3
    tl.debug_barrier()  # p is read above and written below
    tl.store(pointer_1, value_11, mask=mask)
    tl.debug_barrier()  # p, written above, may overlap q, updated below
    value_12 = tl.atomic_add(q + 6, 1)
    tl.debug_barrier()  # q, updated above, may overlap Y, written below
    tl.store(Y + 4, 12 // tl.where(value_12 != 0, value_12, 1))
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_13 = tl.atomic_add(q + 7, 1)
    tl.debug_barrier()  # q, updated above, may overlap Y, written below
    tl.store(Y + 5, tl.maximum(value_13, 4))
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_14 = tl.atomic_add(q + 8, 1)
    tl.debug_barrier()  # q, updated above, may overlap Y, written below
    tl.store(Y + 6, tl.sum(tl.arange(0, 4) * value_14, axis=0))
    tl.debug_barrier()  # Y, written above, may overlap q, updated below
    value_15 = tl.atomic_add(q + 9, 1)
    pointer_2 = p + value_15
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    old = tl.load(pointer_2)
    value_16 = tl.load(pointer_2) + 1
    tl.debug_barrier()  # p is read above and written below
    tl.store(pointer_2, value_16)
    tl.debug_barrier()  # p, written above, may overlap Y, written below
    tl.store(Y + 7, old)
