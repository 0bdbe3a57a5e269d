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
    tl.debug_barrier()
    value = tl.load(C) + 1.0
    tl.debug_barrier()
    tl.store(C, value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
