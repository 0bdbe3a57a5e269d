# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # int*
    Z,  # long*
):
    tl.store(Y, tl.full((), 16777217.0 + 0.0, tl.float64).to(tl.int32))
    tl.store(Y + 1, tl.full((), 2147483647.0 - 40.0, tl.float64).to(tl.int32))
    tl.store(Y + 2, tl.full((), 7.0 - 1000.0, tl.bfloat16).to(tl.int32))
    tl.store(Y + 3, tl.where(tl.full((), 1e-30 * 1e-30, tl.float32) != 0.0, 1, 2))
    tl.store(Y + 4, tl.where(False, 1, 2))
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.full((), 1000.0 + 4294967295.0, tl.float64).to(tl.int64))
