# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    Z,  # long*
    n,
):
    tl.store(Y, tl.full((), 2.0, tl.float32) / (n == 0))
    tl.store(Y + 1, tl.full((), 2.0, tl.float32) / ((n != 0) & False))
    tl.store(
        Y + 2,
        (tl.cast((n == 0) + 2147483647, tl.int32) + (n > 0)).to(Y.dtype.element_ty),
    )
    tl.atomic_add(Y + 3, 3.0, mask=tl.cast(n != 0, tl.int1))
    v = tl.full((2,), tl.cast(n, tl.int64), tl.int64)
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z + tl.arange(0, 2), v)
