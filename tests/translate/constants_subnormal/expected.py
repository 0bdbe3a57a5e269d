# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # float*
):
    x = tl.full((), 1e-40, tl.float32)
    value = x * 3.0 + tl.load(X)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.where(tl.load(X) > 0.0, tl.full((), 2e-40, tl.float32), 2.0)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    for i in range(3):
        tl.debug_barrier()  # Y, written above, may overlap X, read below
        x *= tl.load(X)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 2, x)
