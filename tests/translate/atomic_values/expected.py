# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
):
    old = tl.atomic_add(X, 5)
    tl.debug_barrier()  # X, updated above, may overlap Y, written below
    tl.store(Y, old)
    tl.debug_barrier()  # all above is done before the lock is released
    value = tl.atomic_xchg(X + 1, 9)
    tl.debug_barrier()  # X, updated above, may overlap Y, written below
    tl.store(Y + 1, value)
    tl.debug_barrier()  # Y, written above, may overlap X, updated below
    value_1 = tl.atomic_cas(X + 2, 7, 1)
    tl.debug_barrier()  # nothing below begins before the lock is taken
    tl.store(Y + 2, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, updated below
    value_2 = tl.atomic_cas(X + 3, 7, 1)
    tl.debug_barrier()  # nothing below begins before the lock is taken
    tl.store(Y + 3, value_2)
