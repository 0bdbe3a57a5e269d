# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    n,
):
    r = tl.arange(0, 8)
    # all that is loaded, before anything is added
    value = tl.load(Y + r)
    tl.debug_barrier()  # Y is read above and updated below
    tl.atomic_add(Y + 7 - r, value)
    # the old values, before anything is stored
    value_1 = tl.atomic_add(Y + 15 - r, tl.full((8,), 1, tl.int32))
    tl.debug_barrier()  # Y is updated above and written below
    tl.store(Y + 8 + r, value_1)
    # tested at the top of each iteration
    running = True
    while running:
        tl.debug_barrier()  # Y is updated by an earlier iteration and read below
        value_2 = tl.load(Y + 16)
        tl.debug_barrier()  # Y is read above and updated below
        value_3 = tl.atomic_add(Y + 16, value_2)
        if value_3 >= n:
            running = False
        else:
            value_4 = tl.load(Y + 17) + 1
            tl.debug_barrier()  # Y is read above and written below
            tl.store(Y + 17, value_4)
