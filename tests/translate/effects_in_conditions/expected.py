# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    q,  # int*
    p,  # int*
    Y,  # int*
):
    n = tl.full((), 0, tl.int32)
    value = tl.atomic_add(q, 1)
    value_1 = value == 0
    tl.debug_barrier()  # q, updated above, may overlap p, read below
    if value_1 & (tl.load(p, mask=value_1, other=0) != 0):
        n += 1
    running = True
    while running:
        tl.debug_barrier()  # p, read above, may overlap q, updated below
        value_2 = tl.atomic_add(q + 1, 1)
        value_3 = value_2 < 3
        tl.debug_barrier()  # q, updated above, may overlap p, read below
        if ~(value_3 & (tl.load(p, mask=value_3, other=0) != 0)):
            running = False
        else:
            n += 10
    i = tl.full((), 0, tl.int32)
    running = True
    while running:
        tl.debug_barrier()  # p, read above, may overlap q, updated below
        value_2 = tl.atomic_add(q + 2, 1)
        if i + value_2 >= 5:
            running = False
        else:
            n += 100
            i += 1
    running = True
    while running:
        n += 1000
        if n % 2000 <= 1000:
            n += 10000
        tl.debug_barrier()  # p, read above, may overlap q, updated below
        value_2 = tl.atomic_add(q + 3, 1)
        tl.debug_barrier()  # q, updated above, may overlap p, read below
        if value_2 - tl.load(p) >= 2:
            running = False
    tl.debug_barrier()  # all above is done before the lock is released
    while tl.atomic_xchg(q + 4, 0) != 0:
        n += 100000
    tl.debug_barrier()  # q, updated above, may overlap Y, written below
    tl.store(Y, n)
