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
    p = X.to(tl.pointer_type(tl.int32))
    q = (X + r).to(tl.pointer_type(tl.int32))
    value = tl.load(p + r) - tl.load(q) + tl.load(p + r)
    tl.debug_barrier()  # X, read above, may overlap Y, written below
    tl.store(Y + r, value)
