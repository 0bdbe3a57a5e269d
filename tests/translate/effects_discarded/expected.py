# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    q,  # int*
    p,  # int*
    n,
):
    tl.atomic_add(q, 1)
    tl.atomic_add(q + 1, 1)
    tl.atomic_add(q + 2, 1)
    tl.atomic_add(q + 3, 1)
    tl.atomic_add(q + 4, 1)
    tl.atomic_add(q + 5, 1)
    tl.atomic_add(q + 6, 1)
    i = tl.full((), 0, tl.int32)
    while i < 3:
        i += 1
        tl.atomic_add(q + 7, 1)
    n += 1
    tl.debug_barrier()  # q, updated above, may overlap p, written below
    tl.store(p, n)
