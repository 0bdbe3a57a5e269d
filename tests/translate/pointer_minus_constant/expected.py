# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # int*
    Y,  # int*
    D: tl.constexpr,
):
    p = X + 2147483648
    value = tl.load(p + -2147483648)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y, value)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_1 = tl.load(X + 3000000001 + -D)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 1, value_1)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_2 = tl.load(X + 4294967298 + -4294967295)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 2, value_2)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_3 = tl.load(X + 4)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 3, value_3)
    tl.debug_barrier()  # Y, written above, may overlap X, read below
    value_4 = tl.load(X - 2147483643 + 2147483648)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + 4, value_4)
