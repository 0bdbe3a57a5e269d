# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # long*
    U,  # unsigned int*
    Y,  # long*
):
    value = tl.atomic_cas(X, tl.full((), 1, tl.int64), tl.full((), 2, tl.int64))
    tl.debug_barrier()  # nothing below begins before the lock is taken
    tl.store(Y, value)
    tl.debug_barrier()  # all above is done before the lock is released
    value_1 = tl.atomic_xchg(X, 5)
    tl.debug_barrier()  # X, updated above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    tl.debug_barrier()  # Y, written above, may overlap U, updated below
    value_2 = tl.atomic_cas(U, tl.full((), 3, tl.uint32), tl.full((), 4, tl.uint32))
    tl.debug_barrier()  # nothing below begins before the lock is taken
    tl.store(Y + 2, value_2.to(Y.dtype.element_ty))
