# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    Y,  # float*
    Z,  # int*
    KF: tl.constexpr,
):
    tl.store(Y, 0.11000001)
    tl.store(Y + 1, KF * 2.0)
    tl.store(Y + 2, (KF * 2.0 + 1.0) * 0.5)
    tl.debug_barrier()  # Y, written above, may overlap Z, written below
    tl.store(Z, tl.cast(False, tl.int32))
    tl.store(Z + 1, tl.cast(KF < 1.0, tl.int32))
