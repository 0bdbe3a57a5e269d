# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    Z,  # float*
    u: tl.uint32,
    n,
):
    tl.store(Y, (u * tl.cast(n - 3, tl.uint32)).to(Y.dtype.element_ty))
    tl.store(Y + 1, tl.cast(n, tl.int32) << 31)
    tl.store(Y + 2, tl.cast(n, tl.int32) + 2147483647)
    tl.store(Y + 3, tl.cast(n, tl.int32) // -2)
    tl.store(Y + 4, tl.cast(-n, tl.int32) % 3)
    divisor = n - 1
    tl.store(Y + 5, tl.where(n > 1, 7 // tl.where(divisor != 0, divisor, 1), 7))
    tl.store(Y + 6, (u < tl.cast(n - 2, tl.uint32)).to(Y.dtype.element_ty))
    tl.store(Y + 7, 8 - n - 2)
    while tl.cast(n > 3, tl.int1):
        tl.store(Y, 0)
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, n / 0.3)
    tl.store(Z + 1, n * 0.5)
    tl.store(Z + 2, -1.0 * tl.cast(n * 0.0, tl.float32))
    tl.debug_barrier()  # Z, written above, may overlap Y, read below
    n = n + 0
    if tl.load(Y) == -10:
        n -= 3
    tl.store(Y + 8, (n - 1) // 2)
