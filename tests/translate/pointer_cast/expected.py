# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    Y,  # int*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    value = tl.load((X + 2).to(tl.pointer_type(tl.int32)) + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.load(X.to(tl.pointer_type(tl.int16)) + 2 * r + 1).to(tl.int32)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + T + r, value_1)
