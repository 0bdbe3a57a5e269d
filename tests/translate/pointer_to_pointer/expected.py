# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    P,  # float**
    X,  # float*
    Y,  # float*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    tl.store(P, (X + 4).to(tl.int64))
    tl.debug_barrier()
    q = tl.load(P).to(tl.pointer_type(tl.float32))
    value = tl.load(q + r)
    tl.debug_barrier()  # P, read above, may overlap Y, written below
    tl.store(Y + r, value)
