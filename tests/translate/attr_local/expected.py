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
    inc = tl.load(P)
    value = tl.load(X + inc + r)
    tl.debug_barrier()
    tl.store(Y + r, value)
