# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    C,  # float*
    lock,  # int*
):
    taken = 0
    running = True
    while running:
        taken = tl.atomic_cas(lock, 0, 1)
        running = taken != 0
    tl.debug_barrier()  # nothing below begins before the lock is taken
    value = tl.load(C) + 1.0
    tl.debug_barrier()  # C is read above and written below
    tl.store(C, value)
    tl.debug_barrier()  # all above is done before the lock is released
    tl.atomic_xchg(lock, 0)
