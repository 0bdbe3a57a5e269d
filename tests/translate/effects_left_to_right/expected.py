# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    q,  # int*
    Y,  # int*
    n,
):
    value = tl.load(q)
    tl.debug_barrier()  # q is read above and updated below
    value_1 = tl.atomic_add(q, 1)
    tl.debug_barrier()  # q is updated above and read below
    value_2 = value * 100 + value_1 * 10 + tl.load(q)
    tl.debug_barrier()  # q, read above, may overlap Y, written below
    tl.store(Y, value_2)
    tl.debug_barrier()  # all above is done before the lock is released
    value_3 = tl.atomic_xchg(q, n)
    value_4 = tl.atomic_add(q, 5)
    tl.debug_barrier()  # q, updated above, may overlap Y, written below
    tl.store(Y + 1, value_3 - value_4)
    value_5 = n
    tl.debug_barrier()  # Y, written above, may overlap q, read below
    n = tl.load(q)
    tl.debug_barrier()  # q, read above, may overlap Y, written below
    tl.store(Y + 2, value_5 * 100 + n + n)
    tl.debug_barrier()  # Y, written above, may overlap q, read below
    value_6 = tl.load(q)
    tl.debug_barrier()  # q is read above and updated below
    value_7 = tl.atomic_add(q, 2)
    tl.debug_barrier()  # q, updated above, may overlap Y, written below
    tl.store(Y + value_6 - 4, value_7)
    tl.debug_barrier()  # Y, written above, may overlap q, read below
    value_8 = tl.load(q)
    tl.debug_barrier()  # all above is done before the lock is released
    value_9 = tl.atomic_xchg(q, 40)
    tl.debug_barrier()  # q is updated above and written below
    tl.store(q, value_8 + value_9)
    tl.debug_barrier()  # q is written above and read below
    value_10 = tl.load(q)
    tl.debug_barrier()  # all above is done before the lock is released
    value_11 = tl.atomic_xchg(q, 1)
    tl.debug_barrier()  # q is updated above and read below
    value_12 = tl.load(q + value_11 - 51, mask=value_10 > 50, other=0)
    tl.debug_barrier()  # q, read above, may overlap Y, written below
    tl.store(Y + 4, value_12)
    tl.debug_barrier()  # all above is done before the lock is released
    index = tl.atomic_xchg(q, 0)
    tl.debug_barrier()  # q is updated above and read below
    index_1 = tl.load(q)
    tl.debug_barrier()  # q, read above, may overlap Y, written below
    tl.store(Y + index_1 + 4 + index, 9)
