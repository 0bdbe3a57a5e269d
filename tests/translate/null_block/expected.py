# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # float*
    RPE,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    has = tl.full((T,), RPE.to(tl.int64) != 0, tl.int1)
    bias = tl.load(RPE + r, mask=has, other=0.0)
    value = tl.load(X + r) + bias
    tl.debug_barrier()  # RPE, read above, may overlap Y, written below
    tl.store(Y + r, value)
