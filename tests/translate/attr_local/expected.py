# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    P,  # int*
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    inc = tl.multiple_of(tl.load(P), 8)
    value = tl.load(X + inc + r)
    tl.debug_barrier()  # P, read above, may overlap Y, written below
    tl.store(Y + r, value)
